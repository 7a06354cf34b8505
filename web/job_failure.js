// How a job failed, and the last that it wrote.
import { h, fill } from './dom.js';
import { text } from './api.js';

const failures = { FAILED: 'Failed', TIMEOUT: 'Timed out', NODE_FAIL: 'Lost with its node', PREEMPTED: 'Preempted' };
const lines = 20;
export const hasFailed = job => job.state in failures;

const tail = (id, stream) => text(`/v1/jobs/${id}/log/raw?stream=${stream}&offset=-8192`).then(t => t.trimEnd().split('\n').slice(-lines).join('\n'), () => '');

// The errors, or where there are none the output.
async function lastWords(id) {
	for (const [stream, what] of [['stderr', 'error output'], ['stdout', 'output']]) {
		const said = await tail(id, stream);
		if (said) return [h('p', { className: 'small soft' }, `The last lines of its ${what}:`), h('pre', { className: 'log', tabindex: '0', 'aria-label': `Last lines of its ${what}` }, said)];
	}
	return [h('p', { className: 'small soft' }, 'It wrote nothing, or its log is not yours to read.')];
}

// A box that is hidden unless the job has failed; set(job) after each answer.  The log is read once for each end.
export function failureBox(id) {
	const box = h('section', { className: 'card failure', hidden: true, 'aria-labelledby': 'failure' }), title = h('h2', { id: 'failure' }), words = h('div', {});
	let known = null;
	box.append(title, words);
	box.set = async job => {
		box.hidden = !hasFailed(job);
		if (box.hidden || known === job.end) return;
		known = job.end;
		title.textContent = failures[job.state] + (job.ending ? `: ${job.ending}` : '');
		fill(words, await lastWords(id));
	};
	return box;
}
