// Who had which device, who has it, and who is expected to have it.
import { h, card, clock, csvButton, duration, jobLink, jobName, legend, fill, number, tenantName } from './dom.js';
import { get, inTurn, live, maybe } from './api.js';
import { Gantt } from './gantt.js';
import { rows } from './rows.js';

const ranges = [[900, '15 min'], [3600, '1 h'], [21600, '6 h'], [86400, '1 day'], [604800, '1 week'], [2592000, '30 days']];

export function spanTable(relative) {
	const t = x => x === null || x === undefined ? '' : relative ? duration(x) : clock(x);
	return rows('Spans', [
		{ title: 'Job', width: '5rem', narrow: '3.4rem', of: s => relative ? '#' + s.job : jobLink(jobName(s)) },
		{ title: 'Name', width: 'minmax(7rem, 1fr)', of: s => s.name ?? '' },
		{ title: 'Tenant', width: 'minmax(5rem, .7fr)', of: s => tenantName(s.tenant) },
		{ title: 'Node', width: 'minmax(5rem, .7fr)', of: s => s.node },
		{ title: 'Devices', width: 'minmax(5rem, .7fr)', narrow: '4rem', of: s => s.devices.join(' ') },
		{ title: 'From', width: '9.5rem', narrow: 'minmax(0, 1fr)', of: s => t(s.from) },
		{ title: 'To', width: '9.5rem', narrow: 'minmax(0, 1fr)', of: s => t(s.to) },
		{ title: 'End', width: '9rem', of: s => s.sure !== undefined ? `forecast (${Math.round(s.sure * 100)} %)` : s.end ? s.end.toLowerCase() : 'holds them' },
	], { minWidth: 900 });
}
export const spanCsv = spans => [['job', 'attempt', 'name', 'user', 'tenant', 'node', 'devices', 'from', 'to', 'end', 'sure'], spans.map(s => [jobName(s), s.attempt, s.name, s.user, s.tenant, s.node, s.devices.join(' '), s.from, s.to, s.end, s.sure])];

const keyOf = s => `${s.job}/${s.attempt}/${s.node}/${s.from}`;

export function show(place) {
	const gantt = new Gantt({ label: 'Devices by time', open: span => { location.hash = '#/job/' + jobName(span); } });
	const choice = h('select', { id: 'range', onchange: () => { spans.clear(); fresh = true; framed = false; loop.now(); } }, ranges.map(([s, text]) => h('option', { value: String(s), selected: s === 3600 }, text)));
	const note = h('p', { className: 'small soft' }), key = h('div', {}), list = spanTable(false);
	const details = h('details', { ontoggle: () => details.open && list.set(shown) }, h('summary', {}, 'As a table'), list);
	const spans = new Map();
	let fresh = true, framed = false, lastNow = 0, shown = [], shownPast, forecast; // undefined: not answered yet

	const expect = inTurn(() => maybe('/v1/forecast').catch(() => null));

	async function load() {
		const since = Number(choice.value);
		// Afterwards only what is new: everything that ended since the last look, and what is alive.
		const wanted = fresh ? since : Math.min(since, Math.max(30, Date.now() / 1000 - lastNow + 60));
		const past = await get('/v1/timeline?since_s=' + Math.ceil(wanted));
		for (const s of past.spans) spans.set(keyOf(s), s);
		for (const [k, s] of spans) if (s.to !== null && s.to < past.now - since) spans.delete(k);
		lastNow = past.now;
		shownPast = past;
		draw(past, since);
		// The past does not wait for the future, which takes longer to work out.
		expect(f => { forecast = f; draw(shownPast, since); });
	}

	function draw(past, since) {
		const names = new Map();
		for (const s of spans.values()) names.set(s.job, s);
		const future = (forecast?.spans ?? []).filter(s => s.to > past.now).map(s => ({ name: names.get(s.job)?.name, tenant: names.get(s.job)?.tenant, ...s, from: Math.max(s.from, past.now), sure: s.sure ?? 0.5 }));
		shown = [...spans.values(), ...future];
		const first = Math.max(past.now - since, Math.min(past.now - 60, ...(fresh || spans.size < 5000 ? [...spans.values()].map(s => s.from) : [past.now - since])));
		const end = future.length ? Math.max(...future.slice(0, 50000).map(s => s.to)) : past.now;
		const ahead = Math.max(0.06 * (past.now - first), Math.min(end - past.now, 1.2 * (past.now - first)));
		gantt.set(past.devices, shown, { now: past.now, from: first, to: past.now + ahead, keep: framed });
		fresh = false;
		framed = forecast !== undefined; // the first one makes room for itself
		fill(key, legend([...new Set(shown.map(s => s.tenant ?? ''))].sort().slice(0, 24), future.length ? [h('li', {}, h('i', { style: { opacity: '.4', borderStyle: 'dashed', background: 'var(--soft)' } }), 'forecast')] : []));
		note.textContent = `${number(spans.size)} spans on ${number(past.devices.length)} devices, ${clock(first)} – ${clock(past.now)}.` + (forecast === null ? ' Forecast: not available from this daemon.' : '') + (past.more ? ' There are more than can be shown: choose a shorter time.' : '');
		if (details.open) list.set(shown);
	}

	window.stintGantt = gantt; // for measuring
	place.append(h('h1', {}, 'Timeline'), card(null, h('div', { className: 'head' }, h('label', { for: 'range' }, 'Look back'), choice, gantt.controls(), h('span', { className: 'grow' }), csvButton('Timeline', () => spanCsv(shown))),
		gantt.el, key, note, h('p', { className: 'small soft' }, 'Drag to move, Ctrl and wheel or + and − to zoom, click for the job. With the keyboard: arrows, + −, N for now, [ ] to choose a span, Enter to open it.')), card(null, details));
	const loop = live(load, { every: 5000, kinds: ['start', 'launch', 'state', 'over', 'end', 'resize', 'epoch', 'lost'] });
	return () => { loop.stop(); delete window.stintGantt; };
}
