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
	return h('div', { className: 'scroll side', tabindex: '0', role: 'region', 'aria-label': caption }, h('table', {}, h('caption', {}, caption),
		h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'figure'), columns.map(c => h('th', { scope: 'col', className: 'num' }, c.title)))),
		h('tbody', {}, names.map(k => h('tr', {}, h('th', { scope: 'row' }, kinds[k][0]), columns.map(c => {
			const v = c.figures?.[k], spread = c.spread?.[k];
			return h('td', { className: 'num' + (v === best(k) ? ' best' : '') }, typeof v === 'number' ? kinds[k][1](v) : '–', spread ? h('span', { className: 'soft small' }, ` ± ${kinds[k][1](spread)}`) : null);
		}))))));
}
