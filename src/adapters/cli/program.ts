import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addApprovals } from './approvals.ts';
import { addAnswers } from './approve.ts';
import { addClose } from './close.ts';
import { addCompletion } from './completion.ts';
import { addDelegate } from './delegate.ts';
import { addDoctor } from './doctor.ts';
import { addEdit } from './edit.ts';
import { addExamples } from './examples.ts';
import { exitCodeHelp } from './exit-code.ts';
import { addExtend } from './extend.ts';
import { addGrants } from './grants.ts';
import { refuseCommands } from './not-built-yet.ts';
import { addPayloads } from './payloads.ts';
import { addPolicy } from './policy.ts';
import { addRespond } from './respond.ts';
import { addReviewerKey } from './reviewer-key.ts';
import { addRun } from './run.ts';
import { addServer } from './server.ts';
import { addSetup } from './setup.ts';
import { addShow } from './show.ts';
import { addWorker } from './worker.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The command line with all its commands. It throws instead of exiting. */
export function createProgram(): Command {
  const program = new Command('countersign')
    .description('Durable human approval for the tool calls of AI agents, on Temporal.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => undefined }); // reportError prints it, as JSON where that is wanted
  addServer(program);
  addSetup(program);
  addDoctor(program);
  addWorker(program);
  addRun(program);
  addShow(program);
  addApprovals(program);
  addAnswers(program);
  addRespond(program);
  addEdit(program);
  addExtend(program);
  addDelegate(program);
  addGrants(program);
  addClose(program);
  addPolicy(program);
  addPayloads(program);
  addReviewerKey(program);
  addCompletion(program);
  refuseCommands(program);
  addExamples(program);
  return program.addHelpText('after', exitCodeHelp());
}
