-- Holds jobs that Stint starts, and leaves every other job alone.
--
-- Put it beside slurm.conf, set JobSubmitPlugins=lua there and run
-- 'scontrol reconfigure'.  Where a job_submit.lua is in use already, load this one
-- under another name with dofile() and call stint.submit(job, partitions) and
-- stint.modify(job, record, uid) from its own functions.
--
-- A job is held (priority 0) and marked (admin_comment) if it goes to one of the
-- partitions below, is a batch job, asks for GPUs and leaves open which nodes it
-- gets.  'stint slurm release' gives held jobs back to Slurm, with or without a daemon.

stint = {}

stint.partitions = { ["@PARTITION@"] = true }
stint.mark = "stint:wanted"
stint.held = "stint:held"
stint.free = "stint:free"

local function said(value)
	return value ~= nil and value ~= ""
end

-- Where the job goes: what it says, or Slurm's default.
local function partition_of(job, partitions)
	if said(job.partition) then
		return job.partition
	end
	for name, partition in pairs(partitions) do
		if partition.flag_default == 1 then
			return name
		end
	end
	return nil
end

local function wants_gpus(job)
	for _, field in ipairs({ "gres", "tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket" }) do
		local value = job[field]
		if said(value) and string.find(value, "gpu") then
			return true
		end
	end
	return false
end

-- What only Slurm can see to.
local function is_particular(job)
	return said(job.req_nodes) or said(job.features) or said(job.reservation) or said(job.licenses)
		or said(job.exc_nodes) or job.shared == 0
end

function stint.wants(job, partitions)
	local partition = partition_of(job, partitions)

	return partition ~= nil and stint.partitions[partition] == true and said(job.script)
		and wants_gpus(job) and not is_particular(job)
end

-- The comment without the words below.
local function own_comment(comment)
	return (string.gsub(string.gsub(comment or "", "%s*" .. stint.held .. "$", ""), "%s*" .. stint.free .. "$", ""))
end

-- With the word that somebody wants the job held, or not.
local function with_word(comment, word)
	local own = own_comment(comment)

	if own == "" then
		return word
	end
	return word == stint.held and own .. " " .. word or own
end

local function has_word(comment)
	return said(comment) and string.find(comment, stint.held .. "$") ~= nil
end

-- What waits for other jobs is not held, since Slurm hardly looks at dependencies of held jobs:
-- it may begin in ten years, and Stint holds it when it waits for that alone.
local function keep(job)
	local waits = said(job.dependency) and job.priority ~= 0
		and (job.begin_time == nil or job.begin_time == 0 or job.begin_time == slurm.NO_VAL)

	if waits then
		job.begin_time = os.time() + 10 * 365 * 86400
	else
		job.priority = 0
	end
end

-- Stint submits jobs itself, held and with a comment of this form.
local function is_stints_own(job)
	return said(job.comment) and string.find(job.comment, "^stint:%w+:%d+:%d+$") ~= nil
end

function stint.submit(job, partitions)
	if stint.wants(job, partitions) and not is_stints_own(job) then
		if job.priority == 0 then
			job.comment = with_word(job.comment, stint.held)
		end
		keep(job)
		job.admin_comment = stint.mark
	end
	return slurm.SUCCESS
end

-- A job of Stint's that waits is held in Slurm already.  That its user wants it held is kept
-- in its comment, where Stint sees it; a release takes that away, and starts nothing.
-- Where there is no such hold a release by root gives the job to Slurm; its user may not.
function stint.modify(job, record, uid)
	local waits = record.job_state % 256 == 0 and said(record.admin_comment)
		and string.find(record.admin_comment, "^stint:%S") ~= nil
	local comment = job.comment or record.comment

	-- Stint's own changes come with a mark.
	if not waits or job.priority == slurm.NO_VAL or job.admin_comment ~= nil then
		return slurm.SUCCESS
	end
	if job.priority == 0 then
		job.comment = with_word(comment, stint.held)
	elseif has_word(comment) then
		job.comment = with_word(comment, stint.free) -- Slurm does not take an empty one
	elseif uid ~= 0 and record.priority == 0 then
		slurm.log_user("the job is not held: it waits for Stint to start it, 'stint queue' tells why")
		return slurm.ESLURM_ACCESS_DENIED or slurm.ERROR
	else
		return slurm.SUCCESS
	end
	if record.priority == 0 then
		job.priority = slurm.NO_VAL
	end
	return slurm.SUCCESS
end

function slurm_job_submit(job, partitions, uid)
	return stint.submit(job, partitions)
end

function slurm_job_modify(job, record, partitions, uid)
	return stint.modify(job, record, uid)
end

return slurm.SUCCESS
