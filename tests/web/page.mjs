// Drives Chromium through every page.  Prints "ok - …" and "not ok - …"; figures
// are reported behind "#" and never asserted.
import { createRequire } from 'node:module';
import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';

const need = createRequire(process.env.WEB_MODULES + '/page.js');
const { chromium } = need('playwright-core');
const axe = readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');
const { STINT, WORK, ROOT, SHOTS } = process.env;
const state = WORK + '/state';
const env = { ...process.env, STINT_STATE: state, STINT_SOCKET: WORK + '/socket', NO_COLOR: '1' };
const patience = 180000;
let failures = 0;

function check(what, good, detail) {
	console.log(`${good ? 'ok' : 'not ok'} - ${what}`);
	if (good) return;
	failures++;
	if (detail !== undefined) console.log('  ' + (typeof detail === 'string' ? detail : JSON.stringify(detail, null, 1)).split('\n').slice(0, 40).join('\n  '));
}
const stint = (...args) => execFileSync(STINT, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const pause = ms => new Promise(done => setTimeout(done, ms));
async function until(what, holds) {
	for (const began = Date.now(); Date.now() - began < patience; await pause(50)) {
		try { if (await holds()) return true; } catch { /* not yet */ }
	}
	check(`${what} within ${patience / 1000} s`, false);
	return false;
}

// ---- the daemon and its jobs

let daemon, port = 0;
async function startDaemon() {
	daemon = spawn(STINT, ['daemon', '--slots', '8', '--policy', 'fair-share:preempt=1,patience_s=2', '--quiet'], { env, stdio: ['ignore', 'inherit', 'inherit'] });
	await until('the daemon is up', () => { port = Number(new URL(readFileSync(state + '/address', 'utf8').trim()).port); return stint('nodes'); });
}
function stopDaemon() {
	return new Promise(done => { daemon.once('exit', done); daemon.kill('SIGTERM'); });
}

const evil = ['<img src=x onerror="window.xss=1">', '"><script>window.xss=2</script>', "javascript:window.xss=3//'", '<svg/onload=window.xss=4>', '=HYPERLINK("http://evil.example")'];
function submitJobs() {
	const submit = (tenant, name, gpus, ...command) => stint('submit', '--quiet', '--tenant', tenant, '--name', name, '--gpus', String(gpus), '--', ...command);
	submit('vision', 'done', 2, 'sh', '-c', 'echo "<b>bold</b><script>window.xss=5</script>"; sleep 0.5');      // 1
	submit('vision', 'breaks', 1, 'sh', '-c', 'echo oh >&2; exit 3');                                              // 2
	submit('speech', 'trains', 1, 'python3', ROOT + '/examples/live/train.py', '--steps', '4000', '--step-s', '0.05', '--checkpoint', WORK + '/x.ckpt'); // 3
	submit('vision', 'long-running-resnet-with-a-name-that-does-not-fit-anywhere', 3, 'sleep', '600');             // 4
	submit('vision', evil[0], 2, 'sleep', '600');                                                                  // 5
	for (const name of evil.slice(1)) submit(evil[0], name, 4, 'sleep', '600');                                    // 6…9
	submit('speech', 'too-many', 8, 'sleep', '600');                                                               // 10
	for (let i = 0; i < 30; i++) submit(['vision', 'speech', 'nlp'][i % 3], `sweep-${i}`, 1 + i % 4, 'sleep', '600');
}
function promise() {
	stint('quota', 'set', 'labs', '--guaranteed', '6');
	stint('quota', 'set', 'vision', '--parent', 'labs', '--guaranteed', '3');
	stint('quota', 'set', 'speech', '--parent', 'labs', '--guaranteed', '1');
	stint('policy', 'set', '--admit', 'quota');
}
function simulate() {
	mkdirSync(state + '/runs', { recursive: true });
	stint('sim', ROOT + '/examples/workload.csv', '--cluster', '4x4:v100', '--policy', 'las', '--out', state + '/runs/las', '--quiet');
	stint('compare', ROOT + '/examples/workload.csv', '--cluster', '4x4:v100', '--policy', 'fifo,sjf', '--out', state + '/runs/both', '--quiet');
}

// ---- looking at a page as a person would

// Pieces of text that lie on each other, or stick out of the window.
function overlaps() {
	const boxes = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const clipped = (el, r) => {
		let box = { left: r.left, top: r.top, right: r.right, bottom: r.bottom };
		for (let p = el; p && p !== document.body; p = p.parentElement) {
			const style = getComputedStyle(p);
			if (style.overflow === 'visible' && style.position !== 'sticky') continue;
			const c = p.getBoundingClientRect();
			if (style.overflow !== 'visible') box = { left: Math.max(box.left, c.left), top: Math.max(box.top, c.top), right: Math.min(box.right, c.right), bottom: Math.min(box.bottom, c.bottom) };
		}
		return box;
	};
	for (let node; (node = walker.nextNode());) {
		const el = node.parentElement;
		if (!node.data.trim() || !el.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || el.closest('.hidden, .skip, script, option, .headrow, .top, svg, .says, .tip, details:not([open]) > :not(summary)')) continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		for (const r of range.getClientRects()) {
			const b = clipped(el, r);
			if (b.right - b.left > 1 && b.bottom - b.top > 1) boxes.push({ ...b, text: node.data.trim().slice(0, 40), node });
		}
	}
	const bad = [];
	boxes.sort((a, b) => a.top - b.top);
	for (let i = 0; i < boxes.length; i++) {
		for (let k = i + 1; k < boxes.length && boxes[k].top < boxes[i].bottom - 2; k++) {
			const a = boxes[i], b = boxes[k];
			const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
			if (a.node !== b.node && wide > 2 && high > 3) bad.push(`"${a.text}" over "${b.text}"`);
		}
	}
	if (document.documentElement.scrollWidth > innerWidth + 1) bad.push(`the page is ${document.documentElement.scrollWidth} px wide, the window ${innerWidth}`);
	// On a phone nothing is beside the screen: lists have fewer columns there, tables become lines.
	for (const box of innerWidth < 720 ? document.querySelectorAll('.scroll, .rows, pre, .nodes') : []) {
		if (box.checkVisibility() && box.scrollWidth > box.clientWidth + 1) bad.push(`"${box.getAttribute('aria-label')}" is ${box.scrollWidth} px wide, ${box.clientWidth} are seen`);
	}
	return bad.slice(0, 10);
}

async function axeClean(page) {
	await page.evaluate(axe + ';window.axe = axe;');
	const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
	return found.violations.map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')}`);
}

const pages = [
	['now', '#/now', '#page .dev', ['Devices', 'Queue', 'held but idle', 'too-many', evil[0], 'Ended lately', 'failed lately', 'exit 3']],
	['timeline', '#/timeline', '#page canvas', ['Timeline', 'Look back', 'As a table', 'vision']],
	['job-running', '#/job/3', '#page .curves .curve', ['Job 3', 'throughput', 'trains', 'Life', 'Log', 'Cancel…', 'attempt 1', 'steps/s']],
	['job-waiting', '#/job/10', '#page .lifeline', ['too-many', 'waits', 'Why and when', 'Hold…']],
	['job-done', '#/job/1', '#page .lifeline', ['done', 'completed', '<b>bold</b>']],
	['job-failed', '#/job/2', '#page .failure pre', ['Failed: exit 3', 'The last lines of its error output', 'Run again…', 'Decisions about it']],
	['fairness', '#/fairness', '#page svg.chart', ['Fairness', 'Totals', 'Who waits because of whom', 'speech', 'Quotas', 'guaranteed', 'may borrow', 'Kept: owners take back']],
	['usage', '#/usage', '#page table', ['Usage', 'slot hours', 'share', 'stint report usage']],
	['whatif', '#/whatif', '#page .fields select', ['What-if', 'More devices', 'Policy']],
	['runs', '#/runs', '#page table', ['Runs', 'both/fifo', 'las', 'comparison']],
	['run', '#/runs/las', '#page canvas', ['las', 'Figures', 'Timeline', 'Jobs', 'mean completion time']],
	['compare', '#/runs/both', '#page table', ['both', 'Side by side', 'fifo', 'sjf']],
	['policy', '#/policy', '#page #change', ['Policy', 'Rules that decide now', 'fair-share', 'Dry run', 'half_life_s']],
];

const problems = []; // what the browser complained of
function watch(page) {
	page.on('pageerror', e => problems.push(`error: ${e.message}`));
	page.on('console', m => { if (m.type() === 'error' && !/ERR_CONNECTION|status of (401|404|503)|ERR_INCOMPLETE|ERR_EMPTY|ERR_ABORTED/.test(m.text())) problems.push(m.text()); });
	page.on('dialog', d => { problems.push('a dialog: ' + d.message()); d.dismiss(); });
}
const seen = (page, text) => page.evaluate(t => document.body.innerText.includes(t) || document.body.textContent.includes(t), text);
const isLive = page => page.evaluate(() => document.getElementById('link').dataset.state === 'live');

async function visit(page, [name, hash, marker, texts], size) {
	await page.evaluate(h => { location.hash = h; }, hash);
	await page.waitForSelector(marker, { timeout: patience });
	const missing = [];
	for (const t of texts) if (!await until(`${name} shows ${t}`, () => seen(page, t))) missing.push(t);
	check(`${name} at ${size}: its text is there`, !missing.length, missing);
	await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
	const over = await page.evaluate(overlaps);
	check(`${name} at ${size}: nothing overlaps or sticks out`, !over.length, over);
	const bad = await axeClean(page);
	check(`${name} at ${size}: axe-core finds nothing`, !bad.length, bad);
	if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${size}.png`, fullPage: true });
}

// ---- coming in

function raw(method, path, headers, body) {
	return new Promise(done => {
		const ask = http.request({ host: '127.0.0.1', port, method, path, headers: { ...(body ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } : {}), ...headers } }, r => {
			let text = '';
			r.on('data', d => { text += d; });
			r.on('end', () => done({ status: r.statusCode, headers: r.headers, text }));
		});
		ask.end(body);
	});
}

async function comingIn(page, url, token) {
	await page.goto(url);
	await page.waitForSelector('#token');
	check('who is not logged in sees no pages to go to', !await page.isVisible('#pages') && !await page.isVisible('#find') && !await page.isVisible('#logout'));
	check('and is not promised a connection', await until('it says so', () => page.evaluate(() => document.getElementById('link').textContent === 'not logged in')));
	check('the login page is clean for axe-core', !(await axeClean(page)).length);
	await page.fill('#token', 'f'.repeat(64));
	await page.click('.login button');
	await page.waitForFunction(() => document.querySelector('[role=alert]')?.textContent.includes('wrong'));
	check('a wrong token is refused in words', true);
	await page.fill('#token', token);
	await page.keyboard.press('Enter');
	await page.waitForSelector('#page .dev', { timeout: patience });
	check('the right token leads in', true);
	check('without a cookie', (await page.context().cookies()).length === 0);
	check('no token in the address', !page.url().includes(token) && !page.url().includes('code'));
	const session = await sessionOf(page), own = { Origin: url.slice(0, -1) };
	check('the token is not kept in the browser', !(await page.evaluate(() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage))).includes(token));
	check('the session alone is worth nothing', (await raw('GET', '/v1/jobs', { 'X-Stint-Session': session.id })).status === 401);
	check('a signature is', (await raw('GET', '/v1/jobs', signed(session, 'GET', '/v1/jobs'))).status === 200);
	check('for one address', (await raw('GET', '/v1/nodes', signed(session, 'GET', '/v1/jobs'))).status === 401);
	const cancel = signed(session, 'POST', '/v1/jobs/999/cancel');
	check('a change without an origin is refused', (await raw('POST', '/v1/jobs/999/cancel', cancel, '{}')).status === 401);
	check('a change from elsewhere is refused', (await raw('POST', '/v1/jobs/999/cancel', { ...cancel, Origin: 'http://evil.example' }, '{}')).status === 403);
	check('a change from our own page gets through', (await raw('POST', '/v1/jobs/999/cancel', { ...cancel, ...own }, '{}')).status === 404);
	const first = await raw('GET', '/', {});
	check('the page is asked for again by its tag', (await raw('GET', '/', { 'If-None-Match': first.headers.etag })).status === 304);
	check('its policy allows nothing inline', /default-src 'none'; script-src 'self'; style-src 'self'/.test(first.headers['content-security-policy']) && !/unsafe/.test(first.headers['content-security-policy']));
	check('sessions are not kept on disk', !existsSync(state + '/sessions'));
}

const hmac = (key, text) => createHmac('sha256', key).update(text).digest('hex');
const sessionOf = page => page.evaluate(() => JSON.parse(localStorage.getItem('stint-session')));
const signed = (session, method, path) => ({ 'X-Stint-Session': `${session.id} ${hmac(session.key, `${method}\n${path}`)}` });

// ---- what can be done

const words = line => execFileSync('sh', ['-c', `set -- ${line}; printf '%s\\0' "$@"`], { encoding: 'utf8' }).split('\0').slice(0, -1);
const attempts = job => JSON.parse(stint('show', job, '--json')).attempts.length;

// Job 2 has failed: what is said of it, its command as a shell takes it, and another try.
async function failing(page) {
	await page.evaluate(() => { location.hash = '#/job/2'; });
	await page.waitForSelector('#page .failure pre', { timeout: patience });
	check('a failed job shows what it wrote last', (await page.textContent('.failure pre')).trim() === 'oh');
	const shown = await page.textContent('#command');
	check('its command can be pasted into a shell', JSON.stringify(words(shown)) === JSON.stringify(JSON.parse(stint('show', '2', '--json')).command), shown);
	await page.click('[aria-label="Copy the command"]');
	check('and copied', await until('it is copied', () => seen(page, 'Copied.')));
	await page.click('#act-requeue');
	await page.click('dialog >> text=Leave it');
	check('it does not run again before that is confirmed', attempts('2') === 1);
	await page.click('#act-requeue');
	check('a dialog says what it does', await page.textContent('#ask-yes') === 'Run job 2 again');
	await page.click('#ask-yes');
	check('a failed job runs again from its page', await until('job 2 is alive or has run twice', () => !/"state": "FAILED"/.test(stint('show', '2', '--json')) || attempts('2') > 1));
	await page.evaluate(() => { location.hash = '#/job/3'; });
	await page.waitForSelector('#reports', { timeout: patience, state: 'attached' });
	await page.waitForSelector('#page .curves .curve', { timeout: patience });
	const told = await page.$$eval('.curves svg', all => all.map(s => [s.getAttribute('aria-label'), s.querySelector('.curve').getAttribute('d').match(/L/g)?.length ?? 0]));
	check('its loss and its speed are curves', ['loss by step: from ', 'throughput steps/s by '].every(t => told.some(([label, lines]) => label.startsWith(t) && lines > 0)), told);
	check('reports of a job are no decisions', !(await page.$$eval('[aria-label^="Every decision"] td:nth-child(2)', all => all.map(td => td.textContent))).includes('progress'));
}

// A count shows its jobs, pressed again all of them; colours follow from names.
async function counting(page) {
	const states = list => page.$$eval(`[aria-label="${list}"] .state`, all => [...new Set(all.map(s => s.dataset.state))].sort().join());
	await page.waitForSelector('[aria-label="Ended lately"] .state', { timeout: patience });
	const button = await page.$('#count-waiting');
	stint('submit', '--quiet', '--name', 'one-more', '--', 'sleep', '600');
	check('a count follows', await until('one more waits', async () => Number(await page.textContent('#count-waiting b')) >= JSON.parse(stint('queue', '--json')).counts.PENDING));
	check('and is the same button, which a press during a change needs', await button.evaluate(b => b.isConnected));
	await page.click('#count-waiting');
	check('a count shows its jobs', await until('those that wait', async () => await states('Queue') === 'PENDING'));
	await page.click('#count-failed');
	check('one count at a time', await until('those that failed', async () => await states('Ended lately') === 'FAILED' && (await states('Queue')).includes('RUNNING')), await states('Queue'));
	await page.click('#count-failed');
	check('and all of them again', await until('all', async () => (await states('Ended lately')).includes('COMPLETED')));
	check('a job that runs shows how far it is', await until('job 3 runs', () => page.$eval('[aria-label="Progress of job 3"]', p => p.value > 0 && p.value <= 1)));
	check('an interval is there without a pointer', await until('the forecast is there', () => seen(page, '8 times of 10 within')));
	const colours = async () => new Map(await page.$$eval('[aria-label="Queue"] .dot', all => all.map(i => [i.nextSibling.data, i.style.backgroundColor])));
	const before = await colours();
	await page.reload();
	await page.waitForSelector('[aria-label="Queue"] .dot', { timeout: patience });
	const both = [...await colours()].filter(([name]) => before.has(name));
	check('tenants keep their colours', both.length > 1 && both.every(([name, c]) => c && before.get(name) === c) && new Set(both.map(([, c]) => c)).size === both.length, both);
}

async function doing(page) {
	await page.evaluate(() => { location.hash = '#/job/9'; });
	await page.click('#act-cancel', { timeout: patience });
	await page.click('dialog >> text=Keep it');
	check('nothing is done before it is confirmed', /PENDING|RUNNING/.test(stint('show', '9', '--json')));
	await page.click('#act-cancel');
	await page.click('#ask-yes');
	check('a job is cancelled from its page', await until('job 9 is cancelled', () => stint('show', '9', '--json').includes('CANCELLED')));
	await page.evaluate(() => { location.hash = '#/now'; });
	await page.waitForSelector('#queue-filter', { timeout: patience });
	await page.fill('#queue-filter', 'hyperlink');
	const [download] = await Promise.all([page.waitForEvent('download'), page.click('[aria-label="Queue: data as CSV"]')]);
	const csv = readFileSync(await download.path(), 'utf8');
	check('the queue as CSV', csv.startsWith('job,name,user,tenant') && csv.split('\r\n').length > 20, csv.slice(0, 300));
	await page.fill('#queue-filter', '');
	await counting(page);
	await failing(page);
	await page.evaluate(() => { location.hash = '#/timeline'; });
	await page.waitForFunction(() => window.stintGantt?.rows.some(r => r.spans.length), null, { timeout: patience });
	await page.focus('#page canvas');
	for (const k of ['+', 'ArrowLeft', 'n', '-', 'Home', ']', ']']) await page.keyboard.press(k);
	await page.keyboard.press('Enter');
	check('the timeline leads to a job by keyboard', await until('a job is shown', async () => /#\/job\/\d+/.test(await page.evaluate(() => location.hash))));
	await page.evaluate(() => { location.hash = '#/whatif'; });
	await page.waitForSelector('#page form select >> nth=1', { timeout: patience });
	await page.click('#run-whatif', { timeout: patience });
	check('what-if says that something must be different', await until('what-if wants a change', () => seen(page, 'as it is now')));
	await page.selectOption('#page form select >> nth=1', 'sjf');
	await page.fill('#add', '8:a100');
	await page.click('#run-whatif', { timeout: patience });
	check('what-if answers, side by side', await until('what-if answers', async () => await seen(page, 'Side by side') && await seen(page, '+8:a100, sjf')), (await page.innerText('[role=status] >> nth=-1')).slice(0, 1000));
	await page.evaluate(() => { location.hash = '#/policy'; });
	await page.waitForSelector('#change', { timeout: patience });
	await page.selectOption('#page form select >> nth=0', 'fifo');
	await page.click('#dry');
	check('other rules are tried on the past first', await until('a dry run answers', () => seen(page, 'Side by side')));
	await page.click('#change');
	await page.click('#ask-yes');
	check('the policy is changed from its page', await until('fifo decides', () => stint('policy', '--json').includes('"fifo')));
}

async function comingBack(page, url, token) {
	await page.evaluate(() => { location.hash = '#/now'; });
	await page.reload();
	await page.waitForSelector('#page .dev', { timeout: patience });
	check('a reload stays logged in, on the same page', page.url().endsWith('#/now'));
	await until('it is live', () => isLive(page));
	const tab = await page.context().newPage(); // a second one, on another page
	watch(tab);
	await tab.goto(url + '#/fairness');
	await until('a second tab is live', () => isLive(tab));
	await stopDaemon();
	check('the page says that the daemon has gone', await until('it notices', async () => !await isLive(page)));
	await impostor(page, token);
	const before = port;
	await startDaemon();
	check('a daemon that is started again has its port again', port === before, `${port}, before ${before}`);
	check('an open page says that it was restarted, and what to do', await until('it says so', async () => await seen(page, 'Daemon restarted: log in again with stint open') && await seen(tab, 'Daemon restarted')));
	check('and shows no pages to go to', !await page.isVisible('#pages') && !await tab.isVisible('#pages'));
	await page.evaluate(a => { location.href = a; }, stint('open', '--quiet').trim()); // the same document: only the hash changes
	check('the address of stint open works in a tab that is open', await until('it is live again', () => isLive(page)));
	check('its code has left the address bar', await page.evaluate(() => location.hash) === '#/now', page.url());
	check('the other tab comes back by itself, where it was', await until('it is live', () => isLive(tab)) && tab.url().endsWith('#/fairness') && await tab.isVisible('#pages'), tab.url());
	await tab.close();
	await page.fill('#queue-filter', 'after-the-restart', { timeout: patience }); // the last of a long queue is out of view
	stint('submit', '--quiet', '--name', 'after-the-restart', '--', 'sleep', '600');
	check('what is new appears without a reload', await until('the new job appears', () => seen(page, 'after-the-restart')));
}

// Another program has the port now: it answers everything and notes all that it gets.
async function impostor(page, token) {
	const { id, key } = await sessionOf(page);
	let got = '';
	const server = http.createServer((ask, answer) => {
		got += `${ask.method} ${ask.url} ${JSON.stringify(ask.headers)}\n`;
		ask.on('data', d => { got += d; });
		ask.on('end', () => { answer.writeHead(200, { 'Content-Type': 'application/json' }); answer.end(JSON.stringify({ challenge: '0'.repeat(80), proof: '0'.repeat(64), session: '0'.repeat(32) })); });
	});
	await new Promise(done => server.listen(port, '127.0.0.1', done));
	await page.waitForSelector('#token', { timeout: patience });
	check('a program that took the port is not believed', got.includes('/login') && got.includes(id));
	check('and asked for nothing before it has proved itself', !got.includes('/v1/'), got);
	await page.fill('#token', token);
	await page.keyboard.press('Enter');
	check('the page says so', await seen(page, 'is not the daemon that this session is with'));
	check('not even with the right token', await until('it is refused', () => seen(page, 'not the daemon that it belongs to')));
	check('which it does not get, nor the key', !got.includes(token) && !got.includes(key), got);
	server.closeAllConnections();
	await new Promise(done => server.close(done));
}

async function leaving(page, url) {
	const session = await sessionOf(page);
	await page.click('#logout');
	await page.waitForSelector('#token', { timeout: patience });
	check('logging out shows the login', true);
	check('and ends the session at the daemon', (await raw('GET', '/v1/jobs', signed(session, 'GET', '/v1/jobs'))).status === 401);
	const address = stint('open', '--quiet').trim();
	check('stint open prints an address with a code', address.startsWith(url + '#code='), address);
	await page.goto('about:blank');
	await page.goto(address);
	await page.waitForSelector('#page .dev', { timeout: patience });
	check('which leads in, and is gone from the address bar', !page.url().includes('code='));
	const other = await page.context().browser().newContext();
	const second = await other.newPage();
	await second.goto(address);
	await second.waitForSelector('#token', { timeout: patience });
	check('but works once only', await seen(second, 'stint open'));
	await other.close();
}

// ---- many: reported, not asserted

function synthetic() {
	const now = Date.now() / 1000, devices = [], spans = [], jobs = [];
	for (let n = 0; n < 125; n++) for (let d = 0; d < 8; d++) devices.push({ node: `node-${n}`, device: d, type: 'a100', name: 'A100', up: n !== 7 });
	for (let i = 0; i < 10000; i++) {
		const node = i % 125, first = (i >> 3) % 8, wide = [1, 1, 2, 4][i % 4], length = 300 + (i * 7919 % 3000);
		const from = now - 3500 + Math.floor(i / 1000) * 350;
		spans.push({ job: i + 1, attempt: 1, name: `job-${i}`, user: 'u', tenant: `tenant-${i % 7}`, node: `node-${node}`, devices: Array.from({ length: wide }, (_, k) => (first + k) % 8), from, to: Math.min(from + length / 9, now), end: 'COMPLETED' });
		jobs.push({ id: i + 1, name: `job-${i}`, user: 'u', tenant: `tenant-${i % 7}`, state: i < 500 ? 'RUNNING' : 'PENDING', gpus: wide, held_gpus: i < 500 ? wide : undefined, wait_s: i, reason: { why: 'busy', text: 'waits for devices' } });
	}
	const nodes = [];
	for (let n = 0; n < 125; n++) nodes.push({ name: `node-${n}`, type: 'a100', state: 'up', devices: Array.from({ length: 8 }, (_, d) => ({ index: d, type: 'a100', up: n !== 7, jobs: d < 4 ? [n * 4 + d + 1] : [] })) });
	return { timeline: { schema: 'timeline/1', from: now - 3600, now, devices, spans, more: false }, jobs: { schema: 'jobs/1', now, policy: 'synthetic', counts: { PENDING: 9500, RUNNING: 500, CONFIGURING: 0, COMPLETING: 0 }, jobs, total: 10000, shown: 10000, more: false }, nodes: { schema: 'nodes/1', host: 'x', nodes } };
}
const middle = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

// The daemon again, at another port, but for three answers that are made up; with the session's key it
// can pretend to be the daemon, without it cannot.
const staged = { key: null };
function stage(fake) {
	const made = { '/v1/timeline': JSON.stringify(fake.timeline), '/v1/jobs': JSON.stringify(fake.jobs), '/v1/nodes': JSON.stringify(fake.nodes) };
	const server = http.createServer((ask, answer) => {
		const body = made[ask.url.split('?')[0]];
		if (ask.url === '/login' && staged.key) {
			let said = '';
			ask.on('data', d => { said += d; });
			ask.on('end', () => { answer.writeHead(200, { 'Content-Type': 'application/json' }); answer.end(JSON.stringify({ challenge: 'x', proof: hmac(staged.key, `stint server\n${ask.headers.host}\n${JSON.parse(said).nonce}\nx`) })); });
			return;
		}
		if (body) { answer.writeHead(200, { 'Content-Type': 'application/json' }); answer.end(body); return; }
		const headers = { ...ask.headers, host: `127.0.0.1:${port}` };
		if (headers.origin) headers.origin = `http://127.0.0.1:${port}`;
		ask.pipe(http.request({ host: '127.0.0.1', port, method: ask.method, path: ask.url, headers }, r => { answer.writeHead(r.statusCode, r.headers); r.pipe(answer); }).on('error', () => answer.destroy()));
	});
	return new Promise(done => server.listen(0, '127.0.0.1', () => done(server)));
}

async function many(page, token, session) {
	const server = await stage(synthetic()), url = `http://127.0.0.1:${server.address().port}/`;
	await page.goto(url);
	await page.fill('#token', token);
	await page.keyboard.press('Enter');
	check('a port that passes everything on to the daemon leads nowhere', await until('it is refused', () => seen(page, 'not the daemon that it belongs to')));
	staged.key = session.key;
	await page.evaluate(s => localStorage.setItem('stint-session', JSON.stringify(s)), session);
	await page.reload();
	await page.waitForSelector('#page .dev', { timeout: patience });
	await page.goto('about:blank');
	await page.goto(url + '#/timeline');
	await page.waitForFunction(() => window.stintGantt?.drawn > 0, null, { timeout: patience });
	const load = await page.evaluate(() => performance.now());
	const timing = await page.evaluate(() => { const n = performance.getEntriesByType('navigation')[0]; return { loaded: n.loadEventEnd - n.startTime, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime }; });
	const pan = await page.evaluate(() => new Promise(done => {
		const g = window.stintGantt, gaps = [];
		g.zoom(0.5);
		g.frames = [];
		let last = performance.now(), n = 0;
		requestAnimationFrame(function step(t) {
			gaps.push(t - last);
			last = t;
			g.shift(n % 40 < 20 ? 0.01 : -0.01, n % 40 < 20 ? 4 : -4);
			if (n++ < 90) requestAnimationFrame(step); else done({ gaps: gaps.slice(2), draws: g.frames, drawn: g.drawn, spans: g.rows.reduce((a, r) => a + r.spans.length, 0) });
		});
	}));
	check('10,000 jobs on 1,000 devices are drawn', pan.drawn > 500, pan.drawn);
	console.log(`# timeline, 10,000 jobs on 1,000 devices (${pan.spans} bars, ${pan.drawn} drawn): shown ${load.toFixed(0)} ms after navigation began (load event ${timing.loaded.toFixed(0)} ms); drawing a frame ${middle(pan.draws).toFixed(1)} ms median, ${Math.max(...pan.draws).toFixed(1)} ms most; between frames while panning ${middle(pan.gaps).toFixed(1)} ms median`);
	if (SHOTS) await page.screenshot({ path: SHOTS + '/many-timeline.png' });
	await page.evaluate(() => { location.hash = '#/now'; });
	await page.waitForFunction(() => document.querySelectorAll('.dev').length === 1000, null, { timeout: patience });
	const scroll = await page.evaluate(() => new Promise(done => {
		const box = document.querySelector('.rows'), gaps = [];
		let last = performance.now(), n = 0;
		requestAnimationFrame(function step(t) {
			gaps.push(t - last);
			last = t;
			box.scrollTop += 777;
			if (n++ < 60) requestAnimationFrame(step); else done({ gaps: gaps.slice(2), there: document.querySelectorAll('.rows [role=row]').length });
		});
	}));
	check('of 10,000 jobs only the rows in view are there', scroll.there < 120, scroll.there);
	console.log(`# queue of 10,000 jobs beside 1,000 devices: between frames while scrolling ${middle(scroll.gaps).toFixed(1)} ms median`);
	if (SHOTS) await page.screenshot({ path: SHOTS + '/many-now.png' });
	await page.goto('about:blank');
	server.closeAllConnections();
	server.close();
}

// ---- all of it

mkdirSync(WORK, { recursive: true });
if (SHOTS) mkdirSync(SHOTS, { recursive: true });
const began = Date.now(), took = what => console.log(`# ${what}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
let browser;
try {
	await startDaemon();
	submitJobs();
	promise();
	simulate();
	await until('job 3 reports progress', () => JSON.parse(stint('show', '3', '--json')).progress?.per_s > 0);
	took('daemon and jobs');
	browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
	const url = `http://127.0.0.1:${port}/`, token = readFileSync(state + '/token', 'utf8').trim();
	const wide = await browser.newContext({ viewport: { width: 1280, height: 900 } });
	wide.setDefaultTimeout(patience);
	const page = await wide.newPage();
	watch(page);
	await comingIn(page, url, token);
	for (const p of pages) await visit(page, p, '1280');
	took('every page at 1280');
	await page.setViewportSize({ width: 390, height: 844 });
	await page.evaluate(() => document.getElementById('theme').click());
	for (const p of pages) await visit(page, p, '390-dark');
	await page.evaluate(() => document.getElementById('theme').click());
	await page.setViewportSize({ width: 1280, height: 900 });
	took('every page at 390');
	check('a name is text, not markup', await page.evaluate(() => window.xss === undefined) && !await page.$('img[src=x]'));
	await doing(page);
	await comingBack(page, url, token);
	took('doing and coming back');
	await leaving(page, url);
	await many(await wide.newPage(), token, await sessionOf(page));
	check('the browser had nothing to complain of', !problems.length, problems);
} catch (e) {
	check('the test came to its end', false, e.stack);
} finally {
	await browser?.close().catch(() => {});
	try { stint('cancel', '--all', '--quiet'); await until('jobs are gone', () => !stint('queue', '--quiet').trim()); } catch { /* the daemon may be gone */ }
	if (daemon && daemon.exitCode === null) await stopDaemon();
	took('in all');
}
process.exit(failures ? 1 : 0);
