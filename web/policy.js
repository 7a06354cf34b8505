// Which rules decide, and others from now on.
import { h, fill, card, confirm, none, number, say, table } from './dom.js';
import { get, live, maybe, post } from './api.js';
import { ruleForm } from './rules.js';

export function show(place) {
	const now = card('Rules that decide now'), form = h('div', {}), preview = h('div', { role: 'status' });
	let rules = null, forms = null, lists = null, present = null; // present: the rules of now, as the forms spell them

	const chosen = () => ({ policy: forms.policy.spec(), placer: forms.placer.spec(), admit: forms.admit.spec() });

	async function change() {
		const next = chosen();
		const text = [['policy', rules.policy, next.policy], ['placer', rules.placer, next.placer], ['admission', rules.admit, next.admit]].map(([k, a, b]) => `${k}: ${a} → ${b}`).join('\n');
		if (!await confirm('Change the rules?', `What runs goes on; from the next decision on the new rules have their way.\n${text}`, 'Change the rules', 'Keep the rules')) return;
		try { await post('/v1/policy', next); say('The rules are changed.'); loop.now(); } catch (e) { say(e.message); }
	}
	// What the new rules would have done with the recent past, where the daemon can tell.
	async function dryRun() {
		const next = chosen(), changed = Object.fromEntries(['policy', 'placer'].filter(k => next[k] !== present[k]).map(k => [k, next[k]]));
		if (!Object.keys(changed).length) { fill(preview, none('This is as it is now: choose another policy or placer, or other options.')); return; }
		fill(preview, h('p', { className: 'soft' }, 'Running the recent past again…'));
		try {
			const { result } = await import('./whatif.js');
			fill(preview, result(await post('/v1/whatif', { since_s: 604800, ...changed })));
		} catch (e) {
			fill(preview, none(e.status === 404 || e.status === 405 ? `A dry run is not available from this daemon. On the command line: stint whatif --policy '${next.policy}' --since 7d` : e.message));
		}
	}
	async function load() {
		[rules, lists] = await Promise.all([get('/v1/policy'), lists ?? maybe('/v1/policies')]);
		fill(now, h('h2', {}, 'Rules that decide now'), table('In force', [{ title: 'rule', of: r => r[0] }, { title: 'with options', of: r => h('span', { className: 'mono' }, r[1]) }], [['policy', rules.policy], ['placer', rules.placer], ['admission', rules.admit]]), h('p', { className: 'small soft' }, `${number(rules.decisions)} decisions so far.`));
		if (forms) return;
		if (!lists) { fill(form, none('The table of policies is not available from this daemon.')); return; }
		forms = { policy: ruleForm('Policy', lists.policies, rules.policy), placer: ruleForm('Placer', lists.placers, rules.placer), admit: ruleForm('Admission', lists.admissions, rules.admit) };
		present = chosen();
		fill(form, h('form', { onsubmit: e => { e.preventDefault(); change(); } }, forms.policy, forms.placer, forms.admit, h('div', { className: 'buttons' }, h('button', { type: 'button', id: 'dry', onclick: dryRun }, 'Dry run on the last week'), h('button', { type: 'submit', id: 'change', className: 'main' }, 'Change…'))), preview);
	}
	place.append(h('h1', {}, 'Policy'), now, card('Other rules', form));
	const loop = live(load, { kinds: ['epoch'], every: 15000 });
	return () => loop.stop();
}
