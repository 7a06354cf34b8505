// Results of simulations: one in the same views as the record, several side by side.
import { h, fill, card, clock, csvButton, duration, legend, none, number, table } from './dom.js';
import { get } from './api.js';
import { figureNames, sideBySide } from './charts.js';
import { Gantt } from './gantt.js';
import { rows } from './rows.js';
import { spanCsv, spanTable } from './timeline.js';
import { tenantCharts } from './fairness.js';
import { columnsOf } from './whatif.js';

const path = name => '#/runs/' + encodeURIComponent(name);

// ---- all

function showList(place) {
	const body = h('div', {}), compared = h('div', {});
	const chosen = new Set();
	function compare(runs) {
		const list = runs.filter(r => chosen.has(r.name));
		fill(compared, list.length > 1 ? card('Side by side', sideBySide('Figures; the best of each line is marked', list.map(r => ({ title: r.name, figures: r }))), h('div', { className: 'buttons' }, csvButton('Runs', () => [['figure', ...list.map(r => r.name)], figureNames.filter(k => list.some(r => typeof r[k] === 'number')).map(k => [k, ...list.map(r => r[k])])]))) : null);
	}
	place.append(h('h1', {}, 'Runs'), card(null, body), compared);
	get('/v1/runs').then(({ dir, runs, more }) => {
		if (!runs.length) { fill(body, none(`There are no results in ${dir}. For example: stint sim trace.csv --out ${dir}/try`)); return; }
		fill(body, table(`In ${dir}${more ? ' (the first of many)' : ''}`, [
			{ title: 'compare', of: r => r.kind === 'run' ? h('input', { type: 'checkbox', 'aria-label': `Compare ${r.name}`, onchange: e => { if (e.target.checked) chosen.add(r.name); else chosen.delete(r.name); compare(runs); } }) : '' },
			{ title: 'name', of: r => h('a', { href: path(r.name) }, r.name) }, { title: 'policy', of: r => r.kind === 'compare' ? 'comparison' : (r.policy ?? '').split(':')[0] }, { title: 'jobs', num: true, of: r => number(r.jobs_finished) }, { title: 'mean completion', num: true, of: r => duration(r.jct_mean_s) },
			{ title: 'mean wait', num: true, of: r => duration(r.wait_mean_s) }, { title: 'utilisation', num: true, of: r => r.utilisation === undefined || r.utilisation === null ? '–' : number(r.utilisation * 100) + ' %' }, { title: 'written', of: r => clock(r.at, false) }], runs));
	}).catch(e => fill(body, none(e.status === 404 ? 'Runs are not available from this daemon.' : e.message)));
	return null;
}

// ---- one

// Use and waiting by tenant, from spans and jobs; without weights everybody deserves the same.
function shares(run) {
	const steps = 120, end = Math.max(1, ...run.spans.slice(-5000).map(s => s.to)), step = end / steps, tenants = new Map(), of = new Map(run.jobs.map(j => [String(j.id), j]));
	const tenant = name => { if (!tenants.has(name)) tenants.set(name, { name, weight: 1, used: Array(steps).fill(0), waiting: Array(steps).fill(0), deserved: Array(steps).fill(0) }); return tenants.get(name); };
	const spread = (list, amount, from, to) => { for (let i = Math.max(0, Math.floor(from / step)); i < steps && i * step < to; i++) list[i] += amount * Math.max(0, Math.min(to, (i + 1) * step) - Math.max(from, i * step)) / step; };
	for (const s of run.spans) spread(tenant(of.get(String(s.job))?.tenant ?? '').used, s.devices.length, s.from, s.to);
	// A job waits from when it came, and from each end of a turn, to the next beginning.
	const since = new Map(run.jobs.map(j => [String(j.id), j.arrival_s]));
	for (const s of [...run.spans].sort((a, b) => a.from - b.from)) {
		const id = String(s.job), j = of.get(id), from = since.get(id);
		if (j && from < s.from) spread(tenant(j.tenant ?? '').waiting, j.gpus ?? 1, from, s.from);
		since.set(id, Math.max(from ?? 0, s.to));
	}
	for (const j of run.jobs) if (j.state !== 'finished' && since.get(String(j.id)) !== undefined) spread(tenant(j.tenant ?? '').waiting, j.gpus ?? 1, since.get(String(j.id)), end);
	const list = [...tenants.values()].sort((a, b) => a.name < b.name ? -1 : 1).slice(0, 24);
	for (let i = 0; i < steps; i++) {
		let left = run.devices.length, open = [...list];
		for (let again = true; again && open.length;) {
			const level = left / open.length;
			again = false;
			for (const t of open) if (t.used[i] + t.waiting[i] <= level) { t.deserved[i] = t.used[i] + t.waiting[i]; left -= t.deserved[i]; again = true; open = open.filter(o => o !== t); }
			if (!again) for (const t of open) t.deserved[i] = level;
		}
	}
	return { from: 0, to: end, step_s: step, devices: run.devices.length, tenants: list };
}

function jobTable() {
	return rows('Jobs of the run', [{ title: 'Job', width: '5rem', narrow: '3.4rem', of: j => '#' + j.id }, { title: 'Name', width: 'minmax(6rem, 1fr)', narrow: 'minmax(0, 1fr)', of: j => j.name ?? j.model ?? '' }, { title: 'Tenant', width: 'minmax(6rem, .8fr)', of: j => j.tenant ?? '' }, { title: 'GPUs', width: '4rem', num: true, of: j => number(j.gpus) },
		{ title: 'Came', width: '6rem', num: true, of: j => duration(j.arrival_s) }, { title: 'Waited', width: '6rem', narrow: '4.2rem', num: true, of: j => duration(j.wait_s) }, { title: 'Ran', width: '6rem', num: true, of: j => duration(j.run_s) }, { title: 'Completion', width: '6.5rem', narrow: '5.6rem', num: true, of: j => duration(j.jct_s) }, { title: 'Preempted', width: '6rem', num: true, of: j => number(j.preemptions) }, { title: 'State', width: 'minmax(6rem, .8fr)', of: j => j.state ?? '' }], { minWidth: 900 });
}

function showRun(place, run) {
	const names = new Map(run.jobs.map(j => [String(j.id), j]));
	for (const s of run.spans) { const j = names.get(String(s.job)); s.name = j?.name ?? j?.model; s.tenant = j?.tenant; }
	const gantt = new Gantt({ label: `Devices by time in run ${run.name}`, relative: true, open: s => { filter.value = '#' + s.job; draw(); jobs.scrollIntoView({ block: 'nearest' }); } });
	const jobs = jobTable(), spans = spanTable(true), filter = h('input', { id: 'job-filter', type: 'search', placeholder: 'number, tenant, model, state', autocomplete: 'off', oninput: () => draw() });
	function draw() {
		const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
		jobs.set(run.jobs.filter(j => words.every(w => w.startsWith('#') ? '#' + j.id === w : `${j.name ?? ''} ${j.model ?? ''} ${j.tenant ?? ''} ${j.state ?? ''}`.toLowerCase().includes(w))));
	}
	const details = h('details', { ontoggle: () => details.open && spans.set(run.spans) }, h('summary', {}, 'As a table'), spans), fair = shares(run);
	const end = run.spans.reduce((m, s) => Math.max(m, s.to), 1);
	window.stintGantt = gantt;
	place.append(h('div', { className: 'two' }, card('Figures', sideBySide(run.summary.policy ?? '', [{ title: run.name, figures: run.summary }])), card('How it was made', h('p', { className: 'mono' }, run.command ?? ''), h('p', { className: 'small soft' }, `cluster ${run.cluster ?? '?'}, trace ${run.trace ?? '?'}, seed ${run.summary.seed ?? '?'}, events ${run.summary.event_hash ?? '?'}`))),
		card(null, h('div', { className: 'head' }, h('h2', {}, 'Timeline'), gantt.controls(), h('span', { className: 'grow' }), csvButton('Run timeline', () => spanCsv(run.spans))), gantt.el, legend(fair.tenants.map(t => t.name)), run.spans_more ? h('p', { className: 'small soft' }, 'Only the first spans are shown: there are too many.') : null, details),
		card(null, h('div', { className: 'head' }, h('h2', {}, 'Devices by tenant'), h('span', { className: 'grow' }), csvButton('Run shares', () => [['at_s', 'tenant', 'deserved', 'used', 'waiting'], fair.tenants.flatMap(t => t.used.map((u, i) => [fair.step_s * i, t.name, t.deserved[i], u, t.waiting[i]]))])), fair.tenants.length ? tenantCharts(fair, true) : none('No spans.')),
		card(null, h('div', { className: 'head' }, h('h2', {}, 'Jobs'), h('span', { className: 'grow' }), h('label', { for: 'job-filter', className: 'soft small' }, 'Filter'), filter, csvButton('Run jobs', () => { const keys = [...new Set(run.jobs.flatMap(j => Object.keys(j)))]; return [keys, run.jobs.map(j => keys.map(k => j[k]))]; })), jobs));
	gantt.set(run.devices, run.spans, { from: 0, to: end });
	draw();
}

function showCompare(place, name, compare) {
	const columns = columnsOf(compare);
	place.append(card('Side by side', sideBySide('Means over the seeds, ± 95 % interval; the best of each line is marked', columns), h('div', { className: 'buttons' }, csvButton('Comparison', () => [['figure', ...columns.map(c => c.title)], figureNames.filter(k => columns.some(c => typeof c.figures[k] === 'number')).map(k => [k, ...columns.map(c => c.figures[k])])]))));
	get('/v1/runs').then(({ runs }) => {
		const own = runs.filter(r => r.of === name);
		if (own.length) place.append(card('Its runs', h('ul', {}, own.map(r => h('li', {}, h('a', { href: path(r.name) }, r.name), h('span', { className: 'soft small mono' }, ' ' + (r.policy ?? '')))))));
	}).catch(() => {});
}

export function show(place, [name]) {
	if (!name) return showList(place);
	const wait = h('p', { className: 'soft' }, 'Reading…');
	let stopped = false;
	place.append(h('p', {}, h('a', { href: '#/runs' }, '← all runs')), h('h1', {}, name), wait);
	get('/v1/runs/' + encodeURIComponent(name)).then(run => {
		if (stopped) return;
		wait.remove();
		if (run.kind === 'compare') showCompare(place, name, run.compare); else showRun(place, run);
	}).catch(e => { wait.textContent = e.message; });
	return () => { stopped = true; delete window.stintGantt; };
}
