#!/bin/bash
# The PyTorch loop of doc/clients.md, to the letter, with a real DataLoader and a real daemon: `make torch`.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/cli/lib/check
. "$root/tests/cli/lib/check"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/clients/python OMP_NUM_THREADS=1

# Debian's packages are for Debian's python3, which need not be the first one.
python=
for one in /usr/bin/python3 python3; do
	"$one" -c 'import torch, numpy' 2>/dev/null && python=$one && break
done
if [ -z "$python" ]; then
	echo "skip - the PyTorch loop of doc/clients.md: python3-torch is not installed (make torch does that)"
	exit 0
fi
# shellcheck source=tests/clients/with_daemon
. "$root/tests/clients/with_daemon"

# What the page leaves to its reader: data, a model with a generator of its own, how long it takes.
cat >train.py <<'PY'
import os, sys, time
import torch
torch.manual_seed(1)
seed, epochs, batch_size, steps_per_epoch = 1, 3, 4, 50
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return batch_size * steps_per_epoch
    def __getitem__(self, i):
        time.sleep(float(os.environ.get("ITEM_S", "0")))
        x = torch.linspace(-1, 1, 8) * (i % 17 + 1)
        return x, x.sum().reshape(1)
data = Data()
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 50)
scaler = torch.cuda.amp.GradScaler(enabled=False)
def train(inputs, labels):
    optimizer.zero_grad()
    loss = ((model(inputs) - labels) ** 2).mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print("step", flush=True)
    return loss
PY
awk '/^## /{ours = /^## PyTorch$/} /^```/{code = ours && /python$/; next} code' "$root/doc/clients.md" >>train.py
cat >>train.py <<'PY'
print("done after %d steps: %s" % (step, [p.double().sum().item().hex() for p in model.parameters()]))
PY
is "the page has a loop with a loader" grep -q 'num_workers=' train.py

run env -u STINT "$python" train.py
want 0 "it runs outside Stint"
alone=$(grep '^done after 150 steps' stdout)
is "to its end" [ -n "$alone" ]
is "a daemon" daemon_start
export ITEM_S=0.02
submit --parsable -- "$python" "$PWD/train.py"
for attempt in 1 2; do
	# shellcheck disable=SC2016 # the inner shell counts
	soon "attempt $attempt trains" bash -c '[ "$(grep -cs "^step" "$0")" -ge 20 ]' \
		"$STINT_STATE/jobs/$job/$attempt/stdout"
	run stint requeue "$job"
	want 0 "it is put back into the queue"
	soon "and leaves" [ -e "$STINT_STATE/jobs/$job/$((attempt + 1))/stdout" ]
done
run stint wait "$job"
want 0 "the job ends well"
is "with the same weights to the bit" [ "$(digest "$job")" = "$alone" ]
run stint show "$job" --json
is "both times it saved before it left" python3 - stdout <<'PY'
import json, sys
job = json.load(open(sys.argv[1]))
job = job.get("jobs", [job])[0]
assert [a["code"] for a in job["attempts"]] == [85, 85, 0], job["attempts"]
PY
is "no worker failed" [ "$(cat "$STINT_STATE/jobs/$job"/*/stderr | grep -c RuntimeError)" = 0 ]
finish
