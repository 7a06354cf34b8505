// One job from submit to end: what it did, why it waits, what it says, and what can be done to it.
import { h, fill, card, clock, colour, confirm, csvButton, duration, inkOn, jobLink, moments, none, number, say, stateWord, table, tenantName } from './dom.js';
import { get, live, maybe, post, text } from './api.js';
import { commandLine, shellText } from './command.js';
import { curvesBox } from './job_curves.js';
import { failureBox, hasFailed } from './job_failure.js';
import { historyView, isReport } from './job_history.js';

const times = n => n === 1 ? 'once' : `${n} times`;
const ended = state => !['PENDING', 'CONFIGURING', 'RUNNING', 'COMPLETING'].includes(state);

// ---- the life line

function pieces(job) {
	const list = [], until = job.end ?? job.now;
	let since = job.submit;
	for (const a of job.attempts ?? []) {
		const from = a.launched ?? a.begun;
		if (!from) continue;
		if (from > since) list.push({ kind: 'wait', from: since, to: from, text: 'waits' });
		list.push({ kind: 'run', from, to: a.ended ?? until, text: `attempt ${a.attempt}`, attempt: a });
		since = a.ended ?? until;
	}
	if (until > since && !ended(job.state)) list.push({ kind: 'wait', from: since, to: until, text: 'waits' });
	else if (until > since + 0.5) list.push({ kind: 'wait', from: since, to: until, text: 'waited' });
	return list;
}

// Reasons as a band: each stands from its event to the next that says something else.
function reasons(job, history) {
	const said = (history?.events ?? []).filter(e => e.text && e.at !== undefined && !isReport(e));
	const until = job.end ?? job.now;
	return said.map((e, i) => ({ from: e.at, to: said[i + 1]?.at ?? until, text: e.text, kind: e.kind })).filter(e => e.to > e.from);
}

function lifeline(job, history) {
	const from = job.submit, to = Math.max(from + 1, job.end ?? job.now), span = to - from;
	const place = p => ({ left: `${(p.from - from) / span * 100}%`, width: `max(2px, ${(p.to - p.from) / span * 100}%)` });
	const fillOf = colour(job.tenant ?? '');
	const band = reasons(job, history);
	const now = job.state === 'PENDING' && job.reason ? [{ from: pieces(job).at(-1)?.from ?? from, to, text: job.reason.text }] : [];
	const all = pieces(job), whys = band.length ? band : now;
	const box = h('div', { className: 'lifeline', role: 'img', 'aria-label': `Life of job ${job.id}: ` + all.map(p => `${p.text} ${duration(p.to - p.from)}`).join(', ') },
		all.map(p => h('div', { className: p.kind, title: `${p.text}: ${clock(p.from)} – ${clock(p.to)} (${duration(p.to - p.from)})`, style: { ...place(p), ...(p.kind === 'run' ? { background: fillOf, color: inkOn(fillOf) } : {}) } }, (p.to - p.from) / span > 0.08 ? `${p.text}, ${duration(p.to - p.from)}` : '')),
		whys.map(p => h('div', { className: 'why', title: p.text, style: place(p) }, (p.to - p.from) / span > 0.06 ? p.text : '')),
		h('div', { className: 'tick', style: { left: '0' } }, 'submitted ' + clock(from)), h('div', { className: 'tick', style: { right: '0' } }, job.end ? 'ended ' + clock(job.end) : 'now ' + clock(job.now)));
	return [box, h('details', {}, h('summary', {}, 'As a table'), table('What it did and why', [{ title: 'what', of: p => p.text }, { title: 'from', of: p => clock(p.from) }, { title: 'to', of: p => clock(p.to) }, { title: 'for', num: true, of: p => duration(p.to - p.from) }], [...all, ...whys.map(w => ({ ...w, text: 'why: ' + w.text }))]))];
}

// ---- facts

function facts(job) {
	const list = [['user', job.user], ['tenant', tenantName(job.tenant)], ['model', job.model], ['asked for', `${job.gpus} GPU${job.gpus === 1 ? '' : 's'}${job.types ? ' of ' + job.types : ''}${job.min_gpus !== job.max_gpus ? ` (${job.min_gpus}–${job.max_gpus})` : ''}`],
		['class', job.class === 'opportunistic' || job.guest || job.on_loan_gpus ? [job.class, job.guest ? 'guest' + (job.beside?.length ? ` beside ${job.beside.join(', ')}` : '') : job.on_loan_gpus ? `${job.on_loan_gpus} on loan` : null].filter(Boolean).join(', ') : null],
		['has', job.held_gpus ? `${job.held_gpus} × ${job.type} on ${job.node} (${job.devices.join(', ')})` : null], ['idle', job.idle ? `for ${duration(job.idle.for_s)}${job.idle.warned ? ', which was warned of' : ''}` : null], ['failed on', job.failed_on?.map(f => `device ${f.device}, ${times(f.times)}${f.avoided ? ' (avoided)' : ''}`).join('; ') ?? null], ['priority', number(job.priority)], ['waited', duration(job.wait_s)], ['ran', duration(job.run_s)],
		['preempted', job.preemptions ? times(job.preemptions) : null], ['GPU time', duration(job.served_gpu_s)], ['lost', job.lost_s ? duration(job.lost_s) : null], ['time limit', job.time_limit_s ? duration(job.time_limit_s) : null],
		['deadline', job.deadline ? clock(job.deadline) : null], ['exit', job.ending || job.exit_code === undefined ? null : job.exit_code], ['how it ended', hasFailed(job) ? null : job.ending ?? job.end_text], ['comment', job.comment]];
	return h('dl', { className: 'figures' }, list.filter(([, v]) => v !== null && v !== undefined && v !== '').map(([k, v]) => h('div', {}, h('dt', {}, k), h('dd', { style: { fontSize: String(v).length > 14 ? '.92rem' : '' } }, v))));
}

function progress(job) {
	const p = job.progress;
	if (!p) return none('It has not reported progress. stint.py or the C header report steps; doc/clients.md says how.');
	const part = p.total > 0 ? Math.min(1, p.step / p.total) : null;
	return [part !== null ? h('progress', { max: '1', value: String(part), 'aria-label': `Progress of job ${job.id}` }) : null,
		h('p', {}, `step ${number(p.step)}${p.total ? ` of ${number(p.total)} (${number(part * 100)} %)` : ''}, saved at ${number(p.saved)}, `, p.per_s ? `${number(p.per_s)} steps/s` : 'speed not known yet', p.loss !== undefined && p.loss !== null ? `, loss ${number(p.loss)}` : '', job.eta_s !== undefined && job.eta_s !== null ? `, ${duration(job.eta_s)} left at this speed` : '', ` – reported ${clock(p.at)}`)];
}

function speeds(job) {
	if (!job.speeds?.length) return null;
	return table('Measured speeds', [{ title: 'type', of: s => s.type }, { title: 'GPUs', num: true, of: s => s.gpus }, { title: 'batch', num: true, of: s => s.batch ?? '–' }, { title: 'step', num: true, of: s => duration(s.step_s) }, { title: 'synchronising', num: true, of: s => s.sync_s === undefined ? '–' : duration(s.sync_s) }], job.speeds);
}

// ---- why, and when

function explained(job, e) {
	if (ended(job.state)) return null;
	if (!e && job.state !== 'PENDING') return null;
	if (!e) return [job.reason ? h('p', {}, job.reason.text, job.reason.job ? [' (', jobLink(job.reason.job), ')'] : '') : h('p', {}, 'It runs.'), none('The full explanation is not available from this daemon.')];
	return [h('p', {}, h('strong', {}, e.verdict)), e.causes?.length ? h('ol', { className: 'causes' }, e.causes.map(c => h('li', {}, c.text, c.evidence?.length ? h('ul', {}, c.evidence.map(v => h('li', {}, v.text, v.job ? [' ', jobLink(v.job)] : null))) : null))) : null,
		e.changes?.length ? [h('h3', {}, 'What would start it now'), h('ul', {}, e.changes.map(c => h('li', {}, c.text, c.command ? [' ', h('code', { className: 'mono' }, c.command)] : null)))] : null];
}

function whenText(job, eta) {
	if (ended(job.state)) return null;
	if (!eta) return none('When it starts and ends: not available from this daemon.' + (job.eta_s !== undefined && job.eta_s !== null ? ` By its own progress it ends in ${duration(job.eta_s)}.` : ''));
	const c = eta.calibration;
	return [h('p', {}, job.state === 'PENDING' ? ['Start ', h('strong', {}, moments(eta.start, eta.at)), ', '] : null, 'end ', h('strong', {}, moments(eta.finish, eta.at)), eta.never > 0 ? `; in ${number(eta.never * 100)} % of the futures it does not start` : ''),
		h('p', { className: 'small soft' }, `${number(eta.futures)} futures, computed ${clock(eta.computed_at)}.`, c?.n ? ` The 80 % interval has held for ${number(c.coverage * 100)} % of ${number(c.n)} starts; median error ${duration(c.median_error_s)}.` : ' No track record yet.')];
}

// ---- actions

const runs = j => ['RUNNING', 'CONFIGURING'].includes(j.state);
// verb, button, what it does to job N (the button that does it), the way out, what follows, and when it is possible.
const actions = [
	{ verb: 'hold', name: 'Hold', doing: n => `Hold job ${n}`, not: 'Leave it', what: j => runs(j) ? 'It is stopped now, with its signal and its grace, and does not run again until it is released.' : 'It does not run until it is released.', can: j => !ended(j.state) && j.reason?.why !== 'held' },
	{ verb: 'release', name: 'Release', doing: n => `Release job ${n}`, not: 'Keep it held', what: () => 'It may run again.', can: j => j.reason?.why === 'held' },
	{ verb: 'requeue', name: 'Requeue', doing: n => `Requeue job ${n}`, not: 'Let it run', what: () => 'It is stopped now, waits again, and goes on from its last checkpoint.', can: runs },
	{ verb: 'requeue', name: 'Run again', doing: n => `Run job ${n} again`, not: 'Leave it', what: () => 'It waits in the queue with the same command and the same number; where it has saved a checkpoint, it goes on from there.', can: j => ended(j.state) && !j.pruned },
	{ verb: 'cancel', name: 'Cancel', doing: n => `Cancel job ${n}`, not: 'Keep it', what: j => runs(j) ? 'It is stopped and ends now.' : 'It ends without running.', can: j => !ended(j.state) },
];

function commandView(job) {
	const line = shellText(job.command ?? []);
	if (job.script) return h('p', { className: 'mono soft' }, `(a script)${line ? ' ' + line : ''}`);
	return line ? commandLine('the command', line, 'command') : null;
}

export function show(place, [id]) {
	if (!/^\d+(_\d+)?$/.test(id ?? '')) { place.append(h('h1', {}, 'Job'), none('Which job? Write its number into the field at the top.')); return null; }
	const title = h('h1', {}, `Job ${id}`), bar = h('div', { className: 'buttons', role: 'group', 'aria-label': 'Actions' }), life = card('Life'), about = h('div', {}), going = card('Progress'), told = h('div', {}), curves = curvesBox(id), why = card('Why and when'), past = card('Decisions about it');
	const pre = h('pre', { className: 'log', tabindex: '0', 'aria-label': 'End of the log' }), stream = h('select', { id: 'log-stream' }, h('option', { value: 'stdout' }, 'output'), h('option', { value: 'stderr' }, 'errors'));
	const attempts = card('Attempts'), command = h('div', {}), failure = failureBox(id);
	let job = null;
	// The first of an array has the array's number, under which a change would be one of them all.
	const called = () => job.array_id ? `${job.array_id}_${job.array_index}` : String(job.id);

	async function act(a) {
		const one = called();
		if (!await confirm(`${a.doing(one)}?`, `${job.name}: ${a.what(job)}`, a.doing(one), a.not, { danger: a.verb === 'cancel' })) return;
		try { await post(`/v1/jobs/${one}/${a.verb}`, { reason: 'from the page', ...(a.verb === 'hold' && { stop: true }) }); say(`${a.doing(one)}: done.`); loop.now(); } catch (e) { say(`${a.doing(one)}: ${e.message}`); }
	}
	function drawActions() {
		const can = actions.filter(a => a.can(job));
		if (bar.dataset.can === can.map(a => a.name).join()) return;
		bar.dataset.can = can.map(a => a.name).join();
		fill(bar, can.map(a => h('button', { id: 'act-' + a.verb, type: 'button', className: a.verb === 'cancel' ? 'danger' : null, onclick: () => act(a) }, a.name + '…')));
	}
	async function loadLog() {
		const end = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4;
		try {
			const tail = await text(`/v1/jobs/${id}/log/raw?stream=${stream.value}&offset=-16384`);
			pre.textContent = tail || '(nothing written)';
		} catch (e) { pre.textContent = e.status === 404 ? '(no log yet)' : `(${e.message})`; }
		if (end) pre.scrollTop = pre.scrollHeight;
	}
	stream.addEventListener('change', loadLog);

	async function load() {
		try { job = await get(`/v1/jobs/${id}`); } catch (e) {
			if (e.status === 404) { fill(place, h('h1', {}, `Job ${id}`), none(`There is no job ${id}.`)); loop.stop(); }
			throw e;
		}
		const over = ended(job.state);
		const [explain, eta, hist] = await Promise.all([over ? null : maybe(`/v1/jobs/${id}/explain`).catch(() => null), over ? null : maybe(`/v1/jobs/${id}/eta`).catch(() => null), maybe(`/v1/jobs/${id}/history`).catch(() => null)]);
		fill(title, `Job ${called()} `, h('span', { style: { fontWeight: '400' } }, job.name), ' ', stateWord(job.state));
		if (!command.firstChild) fill(command, commandView(job));
		failure.set(job);
		drawActions();
		const open = life.querySelector('details')?.open;
		fill(life, h('h2', {}, 'Life'), lifeline(job, hist));
		if (open) life.querySelector('details').open = true;
		fill(about, facts(job));
		going.hidden = !job.progress && !job.speeds?.length && job.state !== 'RUNNING';
		fill(told, progress(job), speeds(job));
		curves.set(job);
		why.hidden = over;
		fill(why, h('h2', {}, 'Why and when'), explained(job, explain), whenText(job, eta));
		fill(past, historyView(id, hist, past.querySelector('details')?.open ?? false));
		attempts.hidden = !job.attempts?.length;
		fill(attempts, h('div', { className: 'head' }, h('h2', {}, 'Attempts'), h('span', { className: 'grow' }), csvButton(`Job ${id} attempts`, () => [['attempt', 'gpus', 'type', 'devices', 'launched', 'begun', 'ended', 'code', 'stop'], job.attempts.map(a => [a.attempt, a.gpus, a.type, a.devices?.join(' '), a.launched, a.begun, a.ended, a.code, a.asked_to_stop])])),
			table('Starts of this job', [{ title: 'no.', num: true, of: a => a.attempt }, { title: 'devices', of: a => a.devices ? `${a.type} ${a.devices.join(', ')}` : '' }, { title: 'begun', of: a => clock(a.begun) }, { title: 'ended', of: a => clock(a.ended) }, { title: 'how', of: a => [a.asked_to_stop, a.code !== undefined ? `code ${a.code}` : null, a.signal ? 'SIG' + a.signal : null, a.text].filter(Boolean).join(', ') }], job.attempts ?? []));
		await loadLog();
	}
	place.append(h('div', { className: 'head' }, title, h('span', { className: 'grow' }), bar), failure, command, going, why, life, about,
		card(null, h('div', { className: 'head' }, h('h2', {}, 'Log'), h('span', { className: 'grow' }), h('label', { for: 'log-stream', className: 'hidden' }, 'Which log'), stream), pre), attempts, past);
	going.append(told, curves);
	const loop = live(load, { every: 3000 });
	return () => loop.stop();
}
