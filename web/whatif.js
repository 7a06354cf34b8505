// Our own history again with other devices or other rules, side by side.
import { h, fill, card, csvButton, none, number } from './dom.js';
import { get, maybe, post } from './api.js';
import { sideBySide, figureNames } from './charts.js';
import { ruleForm } from './rules.js';

const ranges = [[86400, '1 day', '1d'], [604800, '1 week', '7d'], [2592000, '30 days', '30d']];

// Columns of a comparison: {policies: [{label, figures: {name: {mean, ci95}}}]}, and what really happened.
export function columnsOf(c) {
	const list = (c.policies ?? c.arms ?? []).map(p => ({ title: p.label ?? p.policy, figures: Object.fromEntries(Object.entries(p.figures ?? p.summary ?? {}).map(([k, v]) => [k, v?.mean ?? v])), spread: Object.fromEntries(Object.entries(p.figures ?? {}).map(([k, v]) => [k, v?.ci95])) }));
	return c.really ? [{ title: 'as it really went', figures: c.really }, ...list] : list;
}
export function result(c) {
	const columns = columnsOf(c);
	return h('div', {}, h('div', { className: 'head' }, h('h3', {}, 'Side by side'), h('span', { className: 'grow' }), csvButton('What-if', () => [['figure', ...columns.map(x => x.title)], figureNames.filter(k => columns.some(x => typeof x.figures[k] === 'number')).map(k => [k, ...columns.map(x => x.figures[k])])])),
		sideBySide(c.history ? `${number(c.history.jobs)} jobs of ${c.history.source ?? 'the record'}` : 'Figures; the best of each line is marked', columns), c.note ? h('p', { className: 'small soft' }, c.note) : null,
		(c.arms ?? []).some(a => a.changes_nothing) ? h('p', { className: 'small' }, 'Changes nothing: ', c.arms.filter(a => a.changes_nothing).map(a => a.label).join(', ')) : null);
}

export function show(place) {
	const since = h('select', { id: 'since' }, ranges.map(([s, text]) => h('option', { value: String(s), selected: s === 604800 }, text)));
	const add = h('input', { id: 'add', placeholder: '4:a100', autocomplete: 'off', pattern: '[0-9]+:[A-Za-z0-9_.\\-]+', 'aria-describedby': 'add-hint' });
	const holder = h('div', {}), out = h('div', { role: 'status' }), button = h('button', { type: 'submit', className: 'main', id: 'run-whatif' }, 'Run it again');
	let form = null, present = null, stopped = false; // present: the rule of now, as the form spells it

	async function run() {
		const spec = form?.spec(), policy = spec === present ? null : spec, body = { since_s: Number(since.value), ...(policy ? { policy } : {}), ...(add.value ? { add: add.value } : {}) };
		if (!policy && !add.value) { fill(out, none('This is as it is now: choose another policy or other options, or more devices.')); return; }
		button.disabled = true;
		fill(out, h('p', { className: 'soft' }, 'Running the past again…'));
		try { fill(out, card(null, result(await post('/v1/whatif', body)))); } catch (e) {
			const flags = [add.value ? `--add ${add.value}` : '', policy ? `--policy '${policy}'` : '', `--since ${ranges.find(r => r[0] === body.since_s)[2]}`].filter(Boolean).join(' ');
			fill(out, e.status === 404 || e.status === 405 ? [none('What-if is not available from this daemon’s page. On the command line, into the directory that Runs shows:'), h('pre', { className: 'log', tabindex: '0', 'aria-label': 'Command' }, `stint whatif ${flags} --out ${dir}/whatif`)] : h('p', { className: 'wrong', role: 'alert' }, e.message));
		}
		button.disabled = false;
	}
	let dir = 'DIR';
	place.append(h('h1', {}, 'What-if'), card('What should be different?', h('form', { onsubmit: e => { e.preventDefault(); run(); } }, h('div', { className: 'fields' }, h('div', { className: 'field' }, h('label', { for: 'since' }, 'Which past'), since),
		h('div', { className: 'field' }, h('label', { for: 'add' }, 'More devices'), add, h('div', { className: 'hint', id: 'add-hint' }, 'COUNT:TYPE, or nothing'))), holder, button)), out);
	Promise.all([get('/v1/policy'), maybe('/v1/policies'), maybe('/v1/runs')]).then(([now, lists, runs]) => {
		if (stopped) return;
		dir = runs?.dir ?? dir;
		if (!lists) { fill(holder, none('The table of policies is not available from this daemon.')); return; }
		form = ruleForm('Policy', lists.policies, now.policy);
		present = form.spec();
		fill(holder, form);
	}).catch(e => fill(holder, h('p', { className: 'wrong' }, e.message)));
	return () => { stopped = true; };
}
