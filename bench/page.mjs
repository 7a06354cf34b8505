// page.mjs URL TOKEN PID [TIMES]: how long the page takes to show a full timeline and queue, in a browser.
//
// Each page is loaded TIMES (5) times anew; the quickest is shown, since others may use the machine.
//	shown    from the beginning of the navigation to the first picture with data
//	files    the page's own files were there
//	asked    the answer was asked for; first, last: its first and last byte
//	drawn    after the last byte: reading it, layout and drawing
//	renderer CPU of the page's process; daemon: CPU of that
// Then the timeline is panned for 90 frames.  Needs node, Chromium and playwright-core: tools/setup browser.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const [, , url, token, pid, times = '5'] = process.argv;
const { chromium } = createRequire(`${process.env.WEB_MODULES}/`)('playwright-core');

const daemonMs = () => readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);
// By process: one may come or go with a navigation.
const renderers = async () => new Map((await system.send('SystemInfo.getProcessInfo')).processInfo.filter(p => p.type === 'renderer').map(p => [p.id, p.cpuTime * 1000]));
const middle = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const ms = x => x.toFixed(0).padStart(5);

async function load(page, hash, answer, ready) {
	await page.goto('about:blank');
	const before = daemonMs(), rendered = await renderers();
	await page.goto(url + hash, { waitUntil: 'commit' });
	const shown = await page.evaluate(([ready]) => new Promise(done => {
		const look = new Function(`return ${ready}`);
		requestAnimationFrame(function step() { if (look()) done(performance.now()); else requestAnimationFrame(step); });
	}), [ready]);
	const daemon = daemonMs() - before;
	const renderer = [...await renderers()].reduce((sum, [id, cpu]) => sum + cpu - (rendered.get(id) ?? 0), 0);
	const marks = await page.evaluate(answer => {
		const all = performance.getEntriesByType('resource'), fetched = all.find(r => r.name.includes(answer));
		return { files: Math.max(...all.filter(r => r.initiatorType !== 'fetch').map(r => r.responseEnd).filter(t => t < fetched.startTime + 1)), asked: fetched.startTime, first: fetched.responseStart, last: fetched.responseEnd };
	}, answer);
	return { shown, daemon, ...marks, drawn: shown - marks.last, renderer };
}

async function measure(context, what, hash, answer, ready) {
	const page = await context.newPage();
	let best = null;

	for (let i = 0; i < Number(times); i++) {
		const one = await load(page, hash, answer, ready);
		if (!best || one.shown < best.shown) best = one;
	}
	console.log(`${what.padEnd(9)} shown ${ms(best.shown)}   files ${ms(best.files)}  asked ${ms(best.asked)}  first ${ms(best.first)}  last ${ms(best.last)}  drawn +${ms(best.drawn)}   renderer ${ms(best.renderer)}  daemon ${ms(best.daemon)} ms`);
	return page;
}

async function pan(page) {
	const seen = await page.evaluate(() => new Promise(done => {
		const g = window.stintGantt, gaps = [];
		g.zoom(0.5);
		g.frames = [];
		let last = performance.now(), n = 0;
		requestAnimationFrame(function step(t) {
			gaps.push(t - last);
			last = t;
			g.shift(n % 40 < 20 ? 0.01 : -0.01, n % 40 < 20 ? 4 : -4);
			if (n++ < 90) requestAnimationFrame(step); else done({ gaps: gaps.slice(2), draws: g.frames, bars: g.rows.reduce((a, r) => a + r.spans.length, 0), rows: g.rows.length });
		});
	}));
	console.log(`panning ${seen.bars} bars on ${seen.rows} devices: drawing ${middle(seen.draws).toFixed(1)} ms median, ${Math.max(...seen.draws).toFixed(1)} most; between frames ${middle(seen.gaps).toFixed(1)} ms median`);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const system = await browser.newBrowserCDPSession();
try {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
	const first = await context.newPage();
	await first.goto(url);
	await first.fill('#token', token);
	await first.keyboard.press('Enter');
	await first.waitForSelector('#page .dev', { timeout: 60000 });
	await first.close();
	const page = await measure(context, 'timeline', '#/timeline', '/v1/timeline', 'window.stintGantt?.drawn > 0');
	await pan(page);
	await page.close();
	await measure(context, 'now', '#/now', '/v1/jobs', 'document.querySelectorAll(".rows .body [role=row]").length > 5');
} finally {
	await browser.close();
}
