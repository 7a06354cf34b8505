// What each tenant deserved, used and waited for; and who waits because of whom.
import { h, fill, card, colour, csvButton, duration, none, number, table, tenantName } from './dom.js';
import { get, live } from './api.js';
import { overTime } from './charts.js';
import { quotas } from './quotas.js';

const ranges = [[900, '15 min'], [3600, '1 h'], [21600, '6 h'], [86400, '1 day'], [604800, '1 week'], [2592000, '30 days']];
const sum = list => list.reduce((a, b) => a + b, 0);

export function tenantCharts(f, relative = false) {
	const top = Math.max(f.devices ?? 0, ...f.tenants.flatMap(t => [...t.used, ...t.deserved]));
	return h('div', { className: 'small-charts' }, f.tenants.map(t => h('div', { style: { color: colour(t.name) } }, h('h3', { style: { color: 'var(--ink)' } }, tenantName(t.name), h('span', { className: 'soft small' }, ` weight ${number(t.weight)}`)),
		overTime(`${tenantName(t.name)}: devices used, deserved and waited for over time`, [{ values: t.used, className: 'used', area: true }, { values: t.deserved, className: 'deserved' }, { values: t.waiting.map(v => Math.min(v, top * 1.5)), className: 'waiting' }], { from: f.from, to: f.to, top, relative }))));
}

export function show(place) {
	const choice = h('select', { id: 'range', onchange: () => loop.now() }, ranges.map(([s, text]) => h('option', { value: String(s), selected: s === 3600 }, text)));
	const charts = h('div', {}), totals = h('div', {}), waits = h('div', {});
	const promised = quotas();
	let data = null;

	async function load() {
		const [answer] = await Promise.all([get('/v1/fairness?since_s=' + choice.value), promised.load()]);
		data = { ...answer, tenants: answer.tenants.filter(t => sum(t.used) + sum(t.waiting) > 0) }; // parents may have no jobs of their own
		const f = data;
		if (!f.tenants.length) { fill(charts, none('No tenant has had a job in this time.')); fill(totals); fill(waits); return; }
		fill(charts, tenantCharts(f));
		fill(totals, table('Time of devices', [{ title: 'tenant', of: t => tenantName(t.name) }, { title: 'deserved', num: true, of: t => duration(sum(t.deserved) * f.step_s) }, { title: 'used', num: true, of: t => duration(sum(t.used) * f.step_s) },
			{ title: 'borrowed', num: true, of: t => duration(sum(t.used.map((u, i) => Math.max(0, u - t.deserved[i]))) * f.step_s) }, { title: 'missed', num: true, of: t => duration(sum(t.used.map((u, i) => Math.max(0, t.deserved[i] - u))) * f.step_s) }, { title: 'waited for', num: true, of: t => duration(sum(t.waiting) * f.step_s) }], f.tenants));
		fill(waits, f.waits.length ? table('Waiting time of jobs by who had the devices', [{ title: 'tenant', of: w => tenantName(w.tenant) }, { title: 'waited because of', of: w => w.tenant === w.because_of ? 'its own jobs' : tenantName(w.because_of) }, { title: 'for', num: true, of: w => duration(w.seconds) }], [...f.waits].sort((a, b) => b.seconds - a.seconds)) : none('Nobody waited in this time.'));
	}
	const csv = () => [['at', 'tenant', 'weight', 'deserved', 'used', 'waiting'], (data?.tenants ?? []).flatMap(t => t.used.map((u, i) => [data.from + data.step_s * (i + 0.5), t.name, t.weight, t.deserved[i], u, t.waiting[i]]))];
	place.append(h('h1', {}, 'Fairness'), card(null, h('div', { className: 'head' }, h('h2', {}, 'Devices by tenant'), h('span', { className: 'grow' }), h('label', { for: 'range' }, 'Look back'), choice, csvButton('Fairness', csv)), charts,
		h('ul', { className: 'legend', 'aria-label': 'Legend' }, h('li', {}, h('i', { style: { background: 'var(--soft)' } }), 'used (area)'), h('li', {}, '– – deserved: its weighted share of what was asked for'), h('li', {}, '····· waited for'))),
		promised.el, h('div', { className: 'two' }, card('Totals', totals), card('Who waits because of whom', waits, h('div', { className: 'buttons' }, csvButton('Waits', () => [['tenant', 'because_of', 'seconds'], (data?.waits ?? []).map(w => [w.tenant, w.because_of, w.seconds])])))));
	const loop = live(load, { every: 10000 });
	return () => loop.stop();
}
