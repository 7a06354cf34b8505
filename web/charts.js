// Lines and areas over time as SVG; figures side by side.
import { h, svg, clock, duration, number } from './dom.js';

const W = 360, H = 150, L = 34, B = 18, T = 8;

function path(points) { return points.map(([x, y], i) => (i ? 'L' : 'M') + x.toFixed(1) + ' ' + y.toFixed(1)).join(''); }

// series: [{values, className, area}], all of one length over from..to.
export function overTime(title, series, { from, to, top, relative = false }) {
	const n = series[0].values.length, most = Math.max(top ?? 0, 1e-9, ...series.flatMap(s => s.values));
	const x = i => L + i / Math.max(1, n - 1) * (W - L - 4), y = v => H - B - v / most * (H - B - T);
	const label = relative ? duration : t => clock(t, false).slice(-5);
	return svg('svg', { class: 'chart', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': title },
		[0, 0.5, 1].map(p => [svg('line', { class: 'axis', x1: L, x2: W - 4, y1: y(most * p), y2: y(most * p) }), svg('text', { x: L - 4, y: y(most * p) + 4, 'text-anchor': 'end' }, number(most * p, 2))]),
		svg('text', { x: L, y: H - 4 }, label(from)), svg('text', { x: W - 4, y: H - 4, 'text-anchor': 'end' }, label(to)),
		series.map(s => {
			const points = s.values.map((v, i) => [x(i), y(v)]);
			return svg('path', { class: s.className, d: s.area ? path(points) + `L${x(n - 1)} ${y(0)}L${x(0)} ${y(0)}Z` : path(points) });
		}));
}

// Round numbers from about `low` to `high`.
function ticks(low, high, about = 3) {
	const rough = (high - low) / about || Math.abs(high) || 1, ten = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map(k => k * ten).find(k => k >= rough * 0.999), list = [];
	for (let t = Math.floor(low / step); t <= Math.ceil(high / step - 1e-9); t++) list.push(t * step);
	return list;
}

// The same in words, for who does not see it.
function inWords({ name, unit, xName, xText }, dots) {
	const [first, last] = [dots[0], dots.at(-1)], least = dots.reduce((a, b) => b[1] < a[1] ? b : a), most = dots.reduce((a, b) => b[1] > a[1] ? b : a);
	const at = d => `${number(d[1])} at ${xText(d[0])}`;
	return `${name}${unit ? ' ' + unit : ''} by ${xName}: from ${at(first)} to ${at(last)}; least ${at(least)}, most ${at(most)}`;
}

// One quantity over another.  ys may have null; a line ends where `groups` (an attempt for each point) changes.
export function curve(c) {
	const { xs, ys, groups, xName, xText, zero = false } = c, left = 46;
	const dots = xs.map((x, i) => [x, ys[i], groups?.[i]]).filter(d => d[0] !== null && d[1] !== null);
	const marks = ticks(zero ? 0 : Math.min(...dots.map(d => d[1])), Math.max(...dots.map(d => d[1])));
	const x0 = Math.min(...dots.map(d => d[0])), x1 = Math.max(...dots.map(d => d[0])), y0 = marks[0], y1 = marks.at(-1);
	const x = v => left + (x1 > x0 ? (v - x0) / (x1 - x0) : 0) * (W - left - 6), y = v => H - B - 12 - (y1 > y0 ? (v - y0) / (y1 - y0) : 0) * (H - B - T - 12);
	const line = dots.map((d, i) => (i && d[2] === dots[i - 1][2] ? 'L' : 'M') + x(d[0]).toFixed(1) + ' ' + y(d[1]).toFixed(1)).join('');
	return svg('svg', { class: 'chart', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': inWords(c, dots) },
		marks.map(v => [svg('line', { class: 'axis', x1: left, x2: W - 6, y1: y(v), y2: y(v) }), svg('text', { x: left - 5, y: y(v) + 4, 'text-anchor': 'end' }, number(v))]),
		svg('text', { x: left, y: H - B }, xText(x0)), svg('text', { x: W - 6, y: H - B, 'text-anchor': 'end' }, xText(x1)), svg('text', { x: (left + W) / 2, y: H - 3, 'text-anchor': 'middle' }, xName),
		svg('path', { class: 'curve', d: line }));
}

const percent = x => number(x * 100) + ' %';
const kinds = { jct_mean_s: ['mean completion time', duration], jct_p50_s: ['median completion time', duration], jct_p95_s: ['95th percentile of completion', duration], jct_p99_s: ['99th percentile of completion', duration],
	wait_mean_s: ['mean wait', duration], wait_p95_s: ['95th percentile of wait', duration], makespan_s: ['makespan', duration], utilisation: ['utilisation', percent, true], ftf_mean: ['mean finish-time fairness', number], ftf_max: ['worst finish-time fairness', number],
	jain: ['Jain’s index', number, true], jobs_submitted: ['jobs', number, null], jobs_finished: ['jobs finished', number, null], preemptions: ['preemptions', number], decisions: ['decisions', number, null], gpu_hours: ['GPU hours', number, null], cost: ['cost', number] };
export const figureNames = Object.keys(kinds);

// columns: [{title, figures: {name: number}}]; the best of each line is marked.
export function sideBySide(caption, columns) {
	const names = figureNames.filter(k => columns.some(c => typeof c.figures?.[k] === 'number'));
	const best = k => {
		const more = kinds[k][2], values = columns.map(c => c.figures?.[k]).filter(v => typeof v === 'number');
		return more === null || values.length < 2 || values.every(v => v === values[0]) ? NaN : more ? Math.max(...values) : Math.min(...values);
	};
	return h('div', { className: 'scroll side' + (columns.length > 1 ? ' stack' : ''), tabindex: '0', role: 'region', 'aria-label': caption }, h('table', { role: 'table' }, h('caption', {}, caption),
		h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, h('th', { scope: 'col', role: 'columnheader' }, 'figure'), columns.map(c => h('th', { scope: 'col', role: 'columnheader', className: 'num' }, c.title)))),
		h('tbody', { role: 'rowgroup' }, names.map(k => h('tr', { role: 'row' }, h('th', { scope: 'row', role: 'rowheader' }, kinds[k][0]), columns.map(c => {
			const v = c.figures?.[k], spread = c.spread?.[k];
			return h('td', { role: 'cell', data: { title: c.title }, className: 'num' + (v === best(k) ? ' best' : '') }, typeof v === 'number' ? kinds[k][1](v) : '–', spread ? h('span', { className: 'soft small' }, ` ± ${kinds[k][1](spread)}`) : null);
		}))))));
}
