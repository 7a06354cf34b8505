// What a job reported over time, as curves: how far it is, how fast, and its metrics.
import { h, clock, csvButton, duration, fill, number, table } from './dom.js';
import { maybe } from './api.js';
import { curve } from './charts.js';

const pauseMs = 10000, rowsShown = 100;

// Steps a second from one report to the next of the same attempt.
function speeds(s) {
	return s.step.map((step, i) => {
		const dt = s.at[i] - s.at[i - 1], ds = step - s.step[i - 1];
		return i && s.attempt[i] === s.attempt[i - 1] && dt > 0 && ds >= 0 ? ds / dt : null;
	});
}

// Metrics have names only; what is measured in something says so at the end of its name.
const units = [[/_per_s$/, '1/s'], [/_ms$/, 'ms'], [/_s$/, 's'], [/_bytes$/, 'bytes']];
const unitOf = name => units.find(([end]) => end.test(name))?.[1] ?? '';

// Metrics by step, as they are compared between runs; how far and how fast by time.
function charts(s) {
	const perS = speeds(s), from = s.at[0], byStep = { xs: s.step, xName: 'step', xText: x => number(x) }, byTime = { xs: s.at.map(t => t - from), xName: 'since ' + clock(from), xText: duration };
	const list = s.metrics.map(m => ({ name: m.name, unit: unitOf(m.name), ys: m.values, ...byStep }));
	// The loss first: it is what people look for.
	list.sort((a, b) => (b.name === 'loss') - (a.name === 'loss'));
	list.push({ name: 'throughput', unit: 'steps/s', ys: perS, zero: true, ...byTime }, { name: 'steps', unit: s.total ? `of ${number(s.total)}` : '', ys: s.step, zero: true, ...byTime });
	return list.filter(c => c.ys.filter(y => y !== null).length > 1);
}

function columns(s) {
	const perS = speeds(s);
	return { titles: ['at', 'attempt', 'step', 'steps_per_s', ...s.metrics.map(m => m.name)], rows: s.at.map((at, i) => [at, s.attempt[i], s.step[i], perS[i], ...s.metrics.map(m => m.values[i])]) };
}

function pointTable(s) {
	const { titles, rows } = columns(s);
	return table(`The last ${Math.min(rowsShown, rows.length)} points, the last first`, titles.map((title, i) => ({ title, num: i > 0, of: row => i ? number(row[i]) : clock(row[i]) })), rows.slice(-rowsShown).reverse());
}

function draw(box, id, s) {
	const open = box.querySelector('details')?.open ?? false, list = charts(s);
	box.hidden = !list.length;
	if (box.hidden) return;
	fill(box, h('div', { className: 'small-charts' }, list.map(c => h('figure', {}, h('figcaption', {}, c.name, c.unit ? h('span', { className: 'soft small' }, ' ' + c.unit) : null), curve({ ...c, groups: s.attempt })))),
		h('div', { className: 'head' }, h('p', { className: 'small soft' }, `${number(s.reports)} reports${s.reports > s.at.length ? `, ${number(s.at.length)} of them drawn` : ''}${s.more ? '; the first 16 metrics' : ''}.`), h('span', { className: 'grow' }), csvButton(`Job ${id} progress`, () => { const { titles, rows } = columns(s); return [titles, rows]; })),
		h('details', { open }, h('summary', {}, 'As a table'), pointTable(s)));
}

// set(job) after each answer; asks again from time to time while the job runs, and once when it has ended.
export function curvesBox(id) {
	const box = h('div', { hidden: true, className: 'curves' });
	let next = 0, end = null;
	box.set = async job => {
		if (!job.progress || (performance.now() < next && job.end === end)) return;
		next = job.end ? Infinity : performance.now() + pauseMs;
		end = job.end;
		const series = await maybe(`/v1/jobs/${id}/series`).catch(() => null);
		if (series) draw(box, id, series);
	};
	return box;
}
