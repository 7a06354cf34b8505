// Device hours by user, tenant, model and month, with their cost.
import { h, fill, card, colour, csvButton, none, number, table } from './dom.js';
import { get, live } from './api.js';

const ranges = [[86400, '1 day'], [604800, '7 days'], [2592000, '30 days'], [7776000, '90 days'], [31536000, '1 year']];
const groups = [['user', 'user'], ['tenant', 'tenant'], ['model', 'model'], ['name', 'name of the job'], ['type', 'type of device'], ['month,user', 'month and user'], ['month,tenant', 'month and tenant'], ['month,model', 'month and model'], ['day', 'day'], ['day,tenant', 'day and tenant']];
const hours = row => row.gpu_hours + row.slot_hours;
const hoursText = x => x < 10 ? x.toFixed(2) : x.toLocaleString('en', { maximumFractionDigits: 1 });

// A bar from 0 to the largest of all rows, in the colour of the last group, which is who or what.
function bar(row, by, most) {
	const part = most > 0 ? hours(row) / most : 0, text = `${hoursText(hours(row))} hours`;
	return h('div', { className: 'quota', role: 'img', 'aria-label': text, title: text, style: { color: colour(row[by.at(-1)]) } }, h('i', { style: { width: `${100 * part}%` } }));
}

function columns(u) {
	const most = Math.max(0, ...u.rows.map(hours)), all = hours(u.total);
	return [
		...u.by.map(key => ({ title: key, of: r => r[key] || '(none)' })),
		{ title: 'use', of: r => r === u.total ? '' : bar(r, u.by, most) },
		{ title: 'jobs', num: true, of: r => number(r.jobs) },
		u.total.gpu_hours > 0 || !u.total.slot_hours ? { title: 'GPU hours', num: true, of: r => hoursText(r.gpu_hours) } : null,
		u.total.slot_hours > 0 ? { title: 'slot hours', num: true, of: r => hoursText(r.slot_hours) } : null,
		{ title: 'share', num: true, of: r => all > 0 ? (100 * hours(r) / all).toFixed(1) + ' %' : '–' },
		'cost' in u.total ? { title: 'cost', num: true, of: r => r.cost.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }) } : null,
	].filter(c => c);
}

const select = (id, choices, chosen, changed) => h('select', { id, onchange: changed }, choices.map(([value, text]) => h('option', { value: String(value), selected: value === chosen }, text)));

export function show(place) {
	const body = h('div', {}), now = () => loop.now();
	const range = select('range', ranges, 2592000, now), group = select('group', groups, 'user', now);
	const price = h('input', { id: 'price', type: 'text', size: '20', placeholder: 'a100=2.5, v100=1', onchange: now });
	let data = null;

	async function load() {
		const said = price.value.replace(/\s/g, '');
		const question = `/v1/usage?since_s=${range.value}&by=${encodeURIComponent(group.value)}` + (said ? `&price=${encodeURIComponent(said)}` : '');
		try { data = await get(question); } catch (e) {
			if (e.status !== 400) throw e;
			return fill(body, h('p', { className: 'wrong', role: 'alert' }, e.message));
		}
		if (!data.rows.length) return fill(body, none('No job ran in this time. Submit one: ', h('span', { className: 'mono' }, 'stint submit --gpus 1 -- python train.py')));
		const total = { ...data.total, [data.by[0]]: 'total' };
		data.total = total;
		for (const key of data.by.slice(1)) total[key] = ' ';
		fill(body, table('Devices held times hours, from launch to end of every attempt', columns(data), data.rows.length > 1 ? [...data.rows, total] : data.rows),
			total.unpriced_hours > 0 ? h('p', { className: 'warn' }, `${hoursText(total.unpriced_hours)} hours are of types of devices without a price and not in the cost.`) : null);
	}
	const csv = () => {
		const cells = [...(data?.by ?? []), 'jobs', 'gpu_hours', 'slot_hours', ...(data && 'cost' in data.total ? ['cost'] : [])];
		return [cells, (data?.rows ?? []).map(r => cells.map(c => r[c]))];
	};
	place.append(h('h1', {}, 'Usage'), card(null, h('div', { className: 'head' }, h('label', { for: 'group' }, 'By'), group, h('label', { for: 'range' }, 'Look back'), range,
		h('label', { for: 'price' }, 'Price per device and hour'), price, h('span', { className: 'grow' }), csvButton('Usage', csv)), body,
	h('p', { className: 'small soft' }, 'On the command line: ', h('span', { className: 'mono' }, 'stint report usage --by user,month --since 90d --csv'))));
	const loop = live(load, { kinds: [], every: 30000 });
	return () => loop.stop();
}
