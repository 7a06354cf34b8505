// A form for a policy, placer or admission rule, from the tables of the program.
import { h, fill } from './dom.js';

let next = 0;

// "tiresias:queues=2,limit_s=600" to name and values.
export function parse(spec) {
	const [name, ...rest] = (spec ?? '').split(':');
	return { name, values: Object.fromEntries(rest.join(':').split(',').filter(Boolean).map(p => { const i = p.indexOf('='); return i < 0 ? [p, '1'] : [p.slice(0, i), p.slice(i + 1)]; })) };
}

function field(option, value, id) {
	const common = { id, 'aria-describedby': id + '-hint' };
	const now = value ?? option.default;
	const input = option.kind === 'choice' ? h('select', common, option.choices.map(c => h('option', { value: c, selected: String(c) === String(now) }, c)))
		: option.kind === 'bool' ? h('input', { ...common, type: 'checkbox', checked: now === true || now === '1' || now === 'true' })
			: option.kind === 'text' ? h('input', { ...common, type: 'text', value: now ?? '' })
				: h('input', { ...common, type: 'number', step: option.kind === 'integer' ? '1' : 'any', min: String(option.min), max: String(option.max), value: String(now) });
	const range = option.min !== undefined ? ` (${option.min} to ${option.max})` : '';
	return { el: h('div', { className: 'field' }, h('label', { for: id }, option.name), input, h('div', { className: 'hint', id: id + '-hint' }, option.help + range)),
		get: () => option.kind === 'bool' ? (input.checked ? '1' : '0') : input.value, preset: option.kind === 'bool' ? (option.default ? '1' : '0') : String(option.default ?? ''), name: option.name };
}

// A chooser; .spec() gives the text, with the options that differ from their defaults.
export function ruleForm(title, rules, spec) {
	const id = 'rule' + next++, first = parse(spec);
	const about = h('p', { className: 'small soft' }), options = h('div', { className: 'fields' });
	const choice = h('select', { id }, rules.map(r => h('option', { value: r.name, selected: r.name === first.name }, r.family ? `${r.name} – ${r.family}` : r.name)));
	let fields = [];
	function draw(values) {
		const rule = rules.find(r => r.name === choice.value);
		about.textContent = rule.summary + (rule.origin ? ` (${rule.origin})` : '');
		fields = rule.options.map((o, i) => field(o, values?.[o.name], `${id}-${i}`));
		fill(options, fields.map(f => f.el));
	}
	choice.addEventListener('change', () => draw());
	draw(first.values);
	const el = h('div', {}, h('div', { className: 'field' }, h('label', { for: id }, title), choice), about, options);
	el.spec = () => {
		const said = fields.filter(f => f.get() !== f.preset && f.get() !== '').map(f => `${f.name}=${f.get()}`);
		return choice.value + (said.length ? ':' + said.join(',') : '');
	};
	return el;
}
