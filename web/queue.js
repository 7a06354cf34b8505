// Lists of jobs: those that run and wait, and those that ended lately.
import { h, clock, colour, duration, interval, jobLink, jobName, moment, number, stateWord, tenantName } from './dom.js';
import { commandLine } from './command.js';
import { rows } from './rows.js';

const waits = job => job.state === 'PENDING';
const link = job => jobLink(jobName(job), '#' + jobName(job));
const narrowLink = job => jobLink(jobName(job), h('span', {}, jobName(job).split('_').flatMap((part, i) => i ? ['_', h('wbr'), part] : [part])));
const tenant = job => [h('i', { className: 'dot', style: { background: colour(job.tenant ?? '') } }), tenantName(job.tenant)];
const nameAndState = job => [h('span', { className: 'line', title: job.name }, job.name), stateWord(job.state)];

// ---- one that runs or waits

function time(job) {
	const s = waits(job) ? job.wait_s : job.run_s ?? job.wait_s, what = waits(job) ? 'has waited for' : 'has run for';
	return h('span', { title: `${what} ${duration(s)}` }, h('span', { className: 'hidden' }, what + ' '), duration(s));
}

const left = job => job.eta_s !== undefined && job.eta_s !== null ? duration(job.eta_s) + ' left' : '';
function progressWords(p) {
	return [`step ${number(p.step)}${p.total ? ` of ${number(p.total)}` : ''}`, p.per_s ? `${number(p.per_s)} steps/s` : '', p.loss !== undefined && p.loss !== null ? `loss ${number(p.loss)}` : ''].filter(Boolean).join(', ');
}

// How far it is: a bar if it said out of how many steps, else what there is.
function progress(job) {
	const p = job.progress, part = p?.total > 0 ? Math.min(1, p.step / p.total) : null;
	if (part === null) return [p ? `step ${number(p.step)}` : '', left(job)].filter(Boolean).join(', ');
	return h('span', { className: 'meter', title: progressWords(p) }, h('progress', { max: '1', value: String(part), 'aria-label': `Progress of job ${jobName(job)}` }), h('span', {}, [`${Math.floor(part * 100)} %`, left(job)].filter(Boolean).join(', ')));
}
const progressOrWhy = job => job.reason?.text && (waits(job) || !job.progress) ? job.reason.text : waits(job) ? '' : progress(job);

// A start is expected of one that waits, an end of one that runs: {text, about: the interval}.
export function expected(job, forecast, now) {
	const f = forecast?.get(job.id), q = waits(job) ? f?.start : f?.finish, what = waits(job) ? 'starts ' : 'ends ';
	if (q) return { text: what + moment(q, now), about: interval(q, now) };
	if (waits(job)) return { text: f ? 'not foreseen' : '–', about: '' };
	return { text: job.eta_s !== undefined && job.eta_s !== null ? 'ends in ' + duration(job.eta_s) : '–', about: '' };
}
function expectedCell({ expected: e }) {
	if (!e?.about) return e?.text ?? '–';
	return h('span', { title: `${e.text}; 8 times of 10 within ${e.about}` }, e.text, h('span', { className: 'hidden' }, `; 8 times of 10 within ${e.about}`));
}

const submitLine = 'stint submit --gpus 1 -- python train.py';
export function queueTable() {
	return rows('Queue', [
		{ title: 'Job', width: '4.6rem', narrow: '3.4rem', of: link, narrowOf: narrowLink },
		{ title: 'Name', width: 'minmax(7rem, 1fr)', narrow: 'minmax(0, 1fr)', of: j => j.name, narrowOf: nameAndState },
		{ title: 'Tenant', width: 'minmax(5rem, .6fr)', of: tenant },
		{ title: 'GPUs', width: '3.6rem', num: true, of: j => j.held_gpus ?? j.gpus ?? 0 },
		{ title: 'State', width: '7rem', of: j => stateWord(j.state) },
		{ title: 'Time', width: '4.6rem', num: true, of: time },
		{ title: 'Progress or why', width: 'minmax(13rem, 2.4fr)', narrow: 'minmax(0, 1.2fr)', of: progressOrWhy },
		{ title: 'Expected', width: 'minmax(9rem, .8fr)', narrow: '5rem', of: expectedCell },
	], { minWidth: 940, narrowLines: 2, empty: [h('p', {}, 'No job runs or waits here. One is submitted with:'), commandLine('the command', submitLine)] });
}

// ---- one that ended

export const failed = job => !['COMPLETED', 'CANCELLED'].includes(job.state);
const how = job => job.ending ?? (job.exit_code !== undefined ? `exit ${job.exit_code}` : '');

export function endedTable() {
	return rows('Ended lately', [
		{ title: 'Job', width: '4.6rem', narrow: '3.4rem', of: link, narrowOf: narrowLink },
		{ title: 'Name', width: 'minmax(7rem, 1fr)', narrow: 'minmax(0, 1fr)', of: j => j.name, narrowOf: nameAndState },
		{ title: 'Tenant', width: 'minmax(5rem, .6fr)', of: tenant },
		{ title: 'GPUs', width: '3.6rem', num: true, of: j => j.gpus ?? 0 },
		{ title: 'State', width: '7rem', of: j => stateWord(j.state) },
		{ title: 'Ran', width: '4.6rem', num: true, of: j => duration(j.run_s) },
		{ title: 'How it ended', width: 'minmax(13rem, 2.4fr)', narrow: 'minmax(0, 1.2fr)', of: j => h('span', { className: failed(j) ? 'wrong' : null, title: how(j) }, how(j)) },
		{ title: 'Ended', width: 'minmax(9rem, .8fr)', narrow: '5rem', of: j => clock(j.end) },
	], { minWidth: 940, narrowLines: 2, empty: 'None.' });
}
