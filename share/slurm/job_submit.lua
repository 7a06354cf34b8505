-- Holds jobs that Stint starts, and leaves every other job alone.
--
-- Put it beside slurm.conf, set JobSubmitPlugins=lua there and run
-- 'scontrol reconfigure'.  Where a job_submit.lua is in use already, load this one
-- under another name with dofile() and call stint.submit(job, partitions) from its own function.
--
-- A job is held (priority 0) and marked (admin_comment) if it goes to one of the
-- partitions below, is a batch job, asks for GPUs and leaves open which nodes it
-- gets.  'stint slurm release' gives held jobs back to Slurm, with or without a daemon.

stint = {}

stint.partitions = { ["@PARTITION@"] = true }
stint.mark = "stint:wanted"

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

function stint.submit(job, partitions)
	if stint.wants(job, partitions) then
		job.priority = 0
		job.admin_comment = stint.mark
	end
	return slurm.SUCCESS
end

function slurm_job_submit(job, partitions, uid)
	return stint.submit(job, partitions)
end

function slurm_job_modify(job, record, partitions, uid)
	return slurm.SUCCESS
end

return slurm.SUCCESS
