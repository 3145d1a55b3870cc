/** Harmful commands, as data (docs/assessment.md). Other commands keep the severity of their tool's risk. */
import type { Severity } from '../core/base/tool-call.ts';

export interface CommandRow {
  /** Names of programs, separated by blanks. `mkfs*` stands for every name that begins with `mkfs`. */
  programs: string;
  /**
   * Conditions on the words after the program: some word must match one of the blank-separated items of each text. `-r`
   * matches that letter among short options, `--force` also `--force=…`, `delete*` a prefix, others whole words.
   */
  with?: readonly string[];
  severity: Severity;
  reason: string;
  reversible?: false;
  /** What the command does to the files that its words name. Absent: the words name no files. */
  files?: 'changing' | 'deleting';
  recommend?: string;
}

const copy = 'Check that there is a copy of what is deleted.';
const shown = 'Look at what would be done first, with a dry run or a plan.';
const lasting = { reversible: false } as const;

export const commandRows: readonly CommandRow[] = [
  // Files
  {
    programs: 'rm unlink del erase remove-item srm',
    severity: 'high',
    reason: 'it deletes files',
    ...lasting,
    files: 'deleting',
    recommend: copy,
  },
  { programs: 'rmdir rd', severity: 'medium', reason: 'it deletes folders', files: 'deleting' },
  {
    programs: 'rmdir rd',
    with: ['/s /S -r --recursive'],
    severity: 'high',
    reason: 'it deletes folders with all they hold',
    ...lasting,
    files: 'deleting',
    recommend: copy,
  },
  {
    programs: 'rm',
    with: ['-r -R --recursive', '--no-preserve-root'],
    severity: 'critical',
    reason: 'it deletes the whole disk',
    ...lasting,
  },
  {
    programs: 'shred wipe',
    severity: 'critical',
    reason: 'it overwrites files so that nothing brings them back',
    ...lasting,
    files: 'deleting',
  },
  { programs: 'truncate', severity: 'high', reason: 'it cuts files', ...lasting, files: 'deleting' },
  {
    programs: 'find fd',
    with: ['-delete'],
    severity: 'high',
    reason: 'it deletes every file it finds',
    ...lasting,
    files: 'changing',
    recommend: copy,
  },
  {
    programs: 'rsync',
    with: ['--delete*'],
    severity: 'high',
    reason: 'it deletes what the source does not have',
    ...lasting,
    recommend: shown,
  },
  {
    programs: 'mv cp install tee rsync scp patch unzip',
    severity: 'low',
    reason: 'it may overwrite files',
    ...lasting,
    files: 'changing',
  },
  { programs: 'ln', severity: 'low', reason: 'it writes files', files: 'changing' },
  { programs: 'ln', with: ['-f --force'], severity: 'low', reason: 'it may overwrite files', ...lasting },
  { programs: 'sed gsed', with: ['-i --in-place'], severity: 'low', reason: 'it may overwrite files', ...lasting },
  {
    programs: 'curl wget sort',
    with: ['-o -O --output*'],
    severity: 'low',
    reason: 'it may overwrite files',
    ...lasting,
  },
  {
    programs: 'tar bsdtar',
    with: ['-x x* --extract --get'],
    severity: 'low',
    reason: 'it may overwrite files',
    ...lasting,
  },
  { programs: 'chmod chown chgrp chattr icacls', severity: 'medium', reason: 'it changes rights', files: 'changing' },
  {
    programs: 'chmod chown chgrp chattr',
    with: ['-R --recursive'],
    severity: 'high',
    reason: 'it changes the rights of all that folders hold',
    ...lasting,
    files: 'changing',
  },
  {
    programs: 'chmod',
    with: ['777 0777 a+rwx o+w a+w u+s +s'],
    severity: 'high',
    reason: 'it opens files to everybody',
    files: 'changing',
  },
  // Disks and machines
  { programs: 'dd', severity: 'high', reason: 'it copies byte by byte over what is there', ...lasting },
  { programs: 'dd', with: ['of=/dev/*'], severity: 'critical', reason: 'it overwrites a disk', ...lasting },
  {
    programs: 'mkfs* fdisk sfdisk gdisk sgdisk parted wipefs blkdiscard mkswap diskpart format format-volume',
    severity: 'critical',
    reason: 'it erases or divides a disk',
    ...lasting,
  },
  {
    programs: 'shutdown reboot halt poweroff telinit stop-computer restart-computer',
    severity: 'high',
    reason: 'it stops the machine',
  },
  { programs: 'kill killall pkill taskkill', severity: 'medium', reason: 'it ends programs' },
  {
    programs: 'systemctl service launchctl',
    with: ['stop disable mask kill restart unload bootout'],
    severity: 'high',
    reason: 'it stops services',
  },
  { programs: 'sudo doas su runas pkexec', severity: 'high', reason: `it runs with another user's rights` },
  {
    programs: 'useradd userdel usermod groupadd adduser deluser passwd chpasswd visudo',
    severity: 'high',
    reason: 'it changes who may use the machine',
  },
  {
    programs: 'iptables ip6tables nft ufw firewall-cmd pfctl setenforce',
    severity: 'high',
    reason: 'it changes the firewall or other protection',
  },
  { programs: 'crontab schtasks', severity: 'high', reason: 'it leaves something to run later' },
  { programs: 'insmod rmmod modprobe sysctl mount umount', severity: 'high', reason: 'it changes the running system' },
  // Code and the network
  { programs: 'nc ncat netcat socat telnet', severity: 'high', reason: 'it opens a bare network connection' },
  { programs: 'ssh scp sftp ftp rclone', severity: 'high', reason: 'it reaches another machine' },
  {
    programs: 'curl',
    with: ['-d -F -T --data* --form* --upload-file --json'],
    severity: 'high',
    reason: 'it sends data to another machine',
  },
  {
    programs: 'curl',
    with: ['DELETE -XDELETE --request=DELETE'],
    severity: 'high',
    reason: 'it asks another machine to delete something',
  },
  {
    programs: 'wget',
    with: ['--post-data --post-file --body-data --body-file'],
    severity: 'high',
    reason: 'it sends data to another machine',
  },
  { programs: 'eval', severity: 'high', reason: 'it runs text as a command' },
  { programs: '$*', severity: 'high', reason: 'which program runs is known only when it runs' },
  // Version control
  { programs: 'git', with: ['push'], severity: 'medium', reason: 'it publishes commits' },
  {
    programs: 'git',
    with: ['push', '-f --force --force-with-lease --mirror --delete -d --prune +*'],
    severity: 'high',
    reason: 'it overwrites or deletes what others may have',
    ...lasting,
  },
  {
    programs: 'git',
    with: ['reset', '--hard --merge'],
    severity: 'high',
    reason: 'it throws away changes',
    ...lasting,
  },
  {
    programs: 'git',
    with: ['clean', '-f --force'],
    severity: 'high',
    reason: 'it deletes files that are not in version control',
    ...lasting,
  },
  {
    programs: 'git',
    with: ['checkout restore', '. -f --force :/'],
    severity: 'high',
    reason: 'it throws away changes',
    ...lasting,
  },
  {
    programs: 'git',
    with: ['branch tag', '-d -D --delete'],
    severity: 'medium',
    reason: 'it deletes branches or tags',
  },
  {
    programs: 'git',
    with: ['filter-branch filter-repo reflog update-ref'],
    severity: 'high',
    reason: 'it rewrites history',
    ...lasting,
  },
  { programs: 'git', with: ['stash', 'drop clear'], severity: 'high', reason: 'it throws away changes', ...lasting },
  {
    programs: 'gh glab',
    with: ['delete merge archive transfer'],
    severity: 'high',
    reason: 'it changes what others work with',
  },
  // Packages
  {
    programs: 'npm pnpm yarn bun lerna cargo poetry uv hatch flit gradle gradlew mvn dotnet nuget vsce',
    with: ['publish deploy push'],
    severity: 'high',
    reason: 'it publishes a package',
    ...lasting,
    recommend: 'Check the version and the account.',
  },
  {
    programs: 'npm cargo gem',
    with: ['unpublish yank deprecate owner'],
    severity: 'critical',
    reason: 'it takes a published package from its users',
    ...lasting,
  },
  { programs: 'twine', with: ['upload'], severity: 'high', reason: 'it publishes a package', ...lasting },
  { programs: 'gem', with: ['push'], severity: 'high', reason: 'it publishes a package', ...lasting },
  {
    programs: 'docker podman buildah skopeo helm',
    with: ['push copy'],
    severity: 'high',
    reason: 'it publishes an image',
    ...lasting,
  },
  {
    programs: 'npm pnpm yarn bun pip pip3 uv gem cargo apt apt-get yum dnf apk pacman brew choco',
    with: ['install add i ci update upgrade'],
    severity: 'medium',
    reason: 'it installs software of others',
  },
  {
    programs: 'apt apt-get yum dnf apk pacman brew',
    with: ['remove purge autoremove del -R uninstall'],
    severity: 'high',
    reason: 'it removes software',
  },
  // Containers and clouds
  { programs: 'docker podman', with: ['rm rmi kill'], severity: 'high', reason: 'it deletes containers or images' },
  {
    programs: 'docker podman',
    with: ['prune'],
    severity: 'high',
    reason: 'it deletes all that is not in use',
    ...lasting,
  },
  {
    programs: 'docker podman',
    with: ['volume', 'rm prune'],
    severity: 'critical',
    reason: 'it deletes volumes with their data',
    ...lasting,
  },
  {
    programs: 'docker docker-compose podman',
    with: ['down', '-v --volumes'],
    severity: 'critical',
    reason: 'it deletes volumes with their data',
    ...lasting,
  },
  {
    programs: 'docker podman',
    with: ['--privileged'],
    severity: 'high',
    reason: `it gives a container the machine's rights`,
  },
  {
    programs: 'kubectl oc',
    with: ['apply create patch replace scale rollout set edit cordon exec'],
    severity: 'high',
    reason: 'it changes a cluster',
    recommend: shown,
  },
  {
    programs: 'kubectl oc',
    with: ['delete drain'],
    severity: 'high',
    reason: 'it deletes from a cluster',
    ...lasting,
    recommend: shown,
  },
  {
    programs: 'kubectl oc',
    with: ['delete', 'ns namespace namespaces --all -A pvc pv crd'],
    severity: 'critical',
    reason: 'it deletes all of a namespace, or data',
    ...lasting,
    recommend: shown,
  },
  {
    programs: 'helm',
    with: ['uninstall delete rollback upgrade'],
    severity: 'high',
    reason: 'it changes a cluster',
    recommend: shown,
  },
  {
    programs: 'terraform tofu terragrunt pulumi cdk',
    with: ['apply up deploy import state'],
    severity: 'high',
    reason: 'it changes infrastructure',
    recommend: shown,
  },
  {
    programs: 'terraform tofu terragrunt pulumi cdk',
    with: ['destroy -destroy --destroy'],
    severity: 'critical',
    reason: 'it destroys infrastructure',
    ...lasting,
    recommend: shown,
  },
  {
    programs: 'aws gcloud az doctl heroku fly flyctl vercel wrangler',
    with: ['delete* terminate* destroy* remove* rm rb purge* apps:destroy pg:reset'],
    severity: 'critical',
    reason: 'it deletes from a cloud',
    ...lasting,
    recommend: shown,
  },
  {
    programs: 'aws gcloud az doctl heroku fly flyctl vercel wrangler',
    with: ['create* put* update* set* deploy* run* start* stop* modify* attach* cp mv sync'],
    severity: 'high',
    reason: 'it changes a cloud',
  },
  // Databases
  { programs: 'dropdb dropuser', severity: 'critical', reason: 'it deletes a database or its user', ...lasting },
  { programs: 'mysqladmin', with: ['drop'], severity: 'critical', reason: 'it deletes a database', ...lasting },
  {
    programs: 'redis-cli valkey-cli',
    with: ['flushall flushdb FLUSHALL FLUSHDB'],
    severity: 'critical',
    reason: 'it empties a database',
    ...lasting,
  },
  { programs: 'pg_restore mysqlimport mongorestore', severity: 'high', reason: 'it overwrites data' },
];

/** A row matches a database statement in which one of `next` directly follows `first` and `without` is missing. */
export interface StatementRow {
  first: string;
  /** Words, separated by blanks. Absent: any word may follow, but only in a text that is certainly for a database. */
  next?: string;
  without?: string;
  severity: Severity;
  reason: string;
  reversible?: false;
}

export const statementRows: readonly StatementRow[] = [
  {
    first: 'drop',
    next: 'database schema keyspace tablespace',
    severity: 'critical',
    reason: 'it deletes a database',
    ...lasting,
  },
  {
    first: 'drop',
    next: 'table view index column user role function procedure trigger sequence type',
    severity: 'high',
    reason: 'it deletes part of a database',
    ...lasting,
  },
  { first: 'dropdatabase', severity: 'critical', reason: 'it deletes a database', ...lasting },
  { first: 'truncate', severity: 'high', reason: 'it empties a table', ...lasting },
  { first: 'delete', next: 'from', severity: 'medium', reason: 'it deletes rows', ...lasting },
  {
    first: 'delete',
    next: 'from',
    without: 'where',
    severity: 'critical',
    reason: 'it deletes every row of a table',
    ...lasting,
  },
  { first: 'update', without: 'where', severity: 'high', reason: 'it may change every row of a table', ...lasting },
  { first: 'alter', severity: 'high', reason: 'it changes how a database is built' },
  { first: 'grant', severity: 'high', reason: 'it changes who may use a database' },
  { first: 'revoke', severity: 'high', reason: 'it changes who may use a database' },
  { first: 'session', next: 'authorization', severity: 'high', reason: 'it acts as another user of a database' },
  { first: 'xp_cmdshell', severity: 'critical', reason: 'it runs a program on a database server', ...lasting },
  { first: 'copy', severity: 'high', reason: 'it copies between a database and files or programs' },
  { first: 'into', next: 'outfile dumpfile', severity: 'high', reason: 'it writes a file of a database server' },
  { first: 'shutdown', severity: 'high', reason: 'it stops a database' },
];

/** Harmful calls in program text. A row matches if the text, in lower case, contains one of `texts` anywhere. */
export const codeRows: readonly {
  texts: readonly string[];
  severity: Severity;
  reason: string;
  reversible?: false;
  recommend?: string;
  /** True if the code deletes files: the paths in it then count as deleted. */
  files?: true;
}[] = [
  {
    texts: [
      'rmtree(',
      'os.remove(',
      'os.unlink(',
      'os.rmdir(',
      '.unlink(',
      'unlinksync(',
      'rmsync(',
      'fs.rm(',
      'file.delete(',
      'deleterecursively(',
    ],
    severity: 'high',
    reason: 'the code deletes files',
    ...lasting,
    recommend: 'look at what these paths hold',
    files: true,
  },
  {
    texts: ['os.system(', 'subprocess', 'popen(', 'child_process', 'execsync(', 'shell_exec(', 'runtime.getruntime('],
    severity: 'high',
    reason: 'the code starts other programs',
  },
  {
    texts: ['eval(', 'exec(', '__import__(', 'new function(', 'pickle.loads(', 'marshal.loads('],
    severity: 'high',
    reason: 'the code runs text as code',
  },
  {
    texts: ['socket.socket(', 'requests.post(', 'requests.put(', 'requests.delete(', 'smtplib'],
    severity: 'high',
    reason: 'the code sends data to other machines',
  },
];
