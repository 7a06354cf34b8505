// Who is promised how many devices, who has how many now, and what of it is borrowed: down the tree of tenants.
import { h, card, colour, csvButton, fill, none, number, table, tenantName } from './dom.js';
import { maybe } from './api.js';

// Everybody behind its parent, with how deep it stands; tenants without one, or whose parent is not told, at the top.
export function downTheTree(tenants) {
	const names = new Set(tenants.map(t => t.name)), below = new Map(), rows = [];
	for (const t of tenants) {
		const parent = names.has(t.parent) ? t.parent : null;
		below.set(parent, [...(below.get(parent) ?? []), t]);
	}
	const walk = (parent, depth) => (below.get(parent) ?? []).forEach(t => { rows.push({ ...t, depth }); walk(t.name, depth + 1); });
	walk(null, 0);
	return rows;
}

const limit = x => x === null || x === undefined ? 'all' : number(x);
// What it has, as a part of all devices: solid within its guarantee, hatched beyond; the line is the guarantee.
function bar(t, devices) {
	const of = n => `${100 * Math.min(1, n / devices)}%`, own = t.held_gpus - t.borrowed_gpus;
	const text = `${number(t.held_gpus)} of ${number(t.guaranteed)} guaranteed` + (t.borrowed_gpus ? `, ${number(t.borrowed_gpus)} borrowed` : '');
	return h('div', { className: 'quota', role: 'img', 'aria-label': text, title: text, style: { color: colour(t.name) } },
		h('i', { style: { width: of(own) } }), h('i', { className: 'borrowed', style: { width: of(t.borrowed_gpus) } }), t.guaranteed ? h('b', { style: { left: of(t.guaranteed) } }) : null);
}
const columns = devices => [
	{ title: 'tenant', of: t => h('span', { style: { paddingLeft: `${1.2 * t.depth}em` } }, tenantName(t.name)) },
	{ title: 'has', of: t => bar(t, devices) },
	{ title: 'devices', num: true, of: t => number(t.held_gpus) }, { title: 'borrowed', num: true, of: t => number(t.borrowed_gpus) },
	{ title: 'guaranteed', num: true, of: t => t.guaranteed_as_said ?? number(t.guaranteed) },
	{ title: 'may borrow', num: true, of: t => limit(t.borrow) }, { title: 'lends', num: true, of: t => t.guaranteed ? limit(t.lend) : '–' },
	{ title: 'weight', num: true, of: t => number(t.weight) }, { title: 'running', num: true, of: t => number(t.running) }, { title: 'waiting', num: true, of: t => number(t.pending) },
	{ title: 'standing', num: true, of: t => number(t.standing) },
];
function kept(q) {
	const promised = q.tenants.some(t => t.guaranteed || t.borrow !== null);
	if (q.quotas) return h('p', { className: 'small soft' }, 'Kept: owners take back what is borrowed, limits hold. Standing: what a tenant used in the last days over its share; 1 is exactly its share.');
	if (q.by_policy) return h('p', { className: 'small soft' }, q.note);
	return promised ? h('p', { className: 'warn' }, 'Said, but not kept: the admission rule is another. On the command line: ', h('span', { className: 'mono' }, 'stint policy set --admit quota'))
		: h('p', { className: 'small soft' }, 'Nobody is promised anything: everybody may have what is free. On the command line: ', h('span', { className: 'mono' }, 'stint quota set NAME --guaranteed 4'));
}

// A card and what brings it up to date.
export function quotas() {
	const body = h('div', {});
	let data = null;
	const csv = () => [['tenant', 'parent', 'weight', 'guaranteed', 'borrow', 'lend', 'held', 'borrowed', 'running', 'pending'], (data?.tenants ?? []).map(t => [t.name, t.parent, t.weight, t.guaranteed, t.borrow, t.lend, t.held_gpus, t.borrowed_gpus, t.running, t.pending])];
	async function load() {
		data = await maybe('/v1/quota');
		if (!data) fill(body, none('Quotas are not available from this daemon.'));
		else if (!data.tenants.length) fill(body, none('There are no tenants yet: they come with their first job, or with stint quota set.'));
		else fill(body, table(`Of ${number(data.devices)} devices`, columns(data.devices), downTheTree(data.tenants)), kept(data));
	}
	return { el: card(null, h('div', { className: 'head' }, h('h2', {}, 'Quotas'), h('span', { className: 'grow' }), csvButton('Quotas', csv)), body), load };
}
