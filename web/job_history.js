// What was decided about a job, and apart from it what the job said of itself.
import { h, clock, csvButton, none, table } from './dom.js';

export const isReport = e => e.who === 'job';
const shown = 200;

// Options of a policy are long: its name, and all of it where the pointer rests and in the CSV.
const rule = e => e.rule ? h('span', { title: e.rule }, e.rule.split(':')[0]) : '';

function decisions(events) {
	return table('Every decision, the last first', [{ title: 'when', of: e => clock(e.at) }, { title: 'what', of: e => e.kind }, { title: 'who', of: e => e.who ?? '' }, { title: 'rule', of: rule }, { title: 'why', of: e => e.text ?? '' }], events.slice(-shown).reverse());
}

function reports(events, open) {
	if (!events.length) return null;
	return h('details', { id: 'reports', open }, h('summary', {}, `Reports of the job (${events.reduce((n, e) => n + (e.inputs?.reports ?? 1), 0)})`),
		table('What the job reported, the last first; reports in a row are one line', [{ title: 'when', of: e => clock(e.at) }, { title: 'what', of: e => e.kind }, { title: 'attempt', num: true, of: e => e.attempt ?? '' }, { title: 'text', of: e => e.text ?? '' }], events.slice(-shown).reverse()));
}

// `open`: whether the reports are unfolded.
export function historyView(id, history, open) {
	const head = button => h('div', { className: 'head' }, h('h2', {}, 'Decisions about it'), h('span', { className: 'grow' }), button);
	if (!history) return [head(null), none('The history of decisions is not available from this daemon.')];
	const csv = csvButton(`Job ${id} history`, () => [['seq', 'at', 'kind', 'who', 'rule', 'text'], history.events.map(e => [e.seq, e.at, e.kind, e.who, e.rule, e.text])]);
	return [head(csv), decisions(history.events.filter(e => !isReport(e))), reports(history.events.filter(isReport), open)];
}
