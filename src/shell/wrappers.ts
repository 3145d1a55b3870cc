/**
 * Programs that start other programs or run code. Names are in lower case, without path and version. An option that the
 * table lacks makes the split uncertain, and every place where a command could begin is tried.
 */
export interface Wrapper {
  /**
   * The meaning of the words after the options and `operands`:
   *
   * - `words`: the rest is a command;
   * - `script`: the rest, joined by blanks, is shell text;
   * - `shell`: with `-c`, the first operand is shell text; otherwise it runs a file or standard input;
   * - `first`: the first operand is shell text;
   * - `definitions`: each operand's text after `=` is shell text;
   * - `options`: only the values of `scripts` are shell text, in any position;
   * - `find`: the words after each word that `onlyWith` matches, up to `;` or `{} +`;
   * - `git`: global options, then a subcommand;
   * - `code`: code that cannot be read here: another language, a file, standard input. The values of the options that
   *   `onlyWith` matches are read as shell text.
   */
  runs: 'words' | 'script' | 'shell' | 'first' | 'definitions' | 'options' | 'find' | 'git' | 'code';
  /** Letters of options without a value. */
  flags?: string;
  /** Letters of options with a value. */
  values?: string;
  /** Letters of options whose value, if any, is in the same word. */
  attached?: string;
  /** Long options, separated by blanks; `name=` takes a value, `name` may take one in the same word. */
  long?: string;
  /** Options whose value is shell text, with their dashes: `-c --command`. */
  scripts?: string;
  /** Number of operands before the command. */
  operands?: number;
  /** Options may also stand between operands and command, and values of `scripts` are settings: `-o NAME=VALUE`. */
  optionsAgain?: true;
  /** `NAME=value` words may precede the command. */
  assignments?: true;
  /** The program adds words to the command when it runs. */
  appends?: true;
  /** For `code`: the standard input is shell text. */
  input?: true;
  /** The program is ordinary, not a wrapper, if its first word is a file's name. */
  unlessFile?: true;
  /** The program is ordinary unless a word is one of these options (see `isOption`), or a glob that may become one. */
  onlyWith?: string;
  /** The program is ordinary unless one of these words precedes a command. `exec:1`: an operand is between the two. */
  subcommands?: string;
  /** The first word may hold option letters without a dash. */
  bundled?: true;
}

const shell: Wrapper = {
  runs: 'shell',
  flags: 'abcefhiklmnprstuvxBCDEHPT',
  values: 'oO',
  long: 'norc noprofile posix login verbose restricted noediting rcfile= init-file=',
};
const interpreter: Wrapper = { runs: 'code', unlessFile: true };
const unknownOptions: Wrapper = { runs: 'words' };
const code: Wrapper = { runs: 'code' };

const table: Record<string, Wrapper> = {
  'sh bash dash ash rbash zsh ksh mksh fish csh tcsh': shell,
  eval: { runs: 'script' },
  'source .': { runs: 'code', input: true },
  trap: { runs: 'first', flags: 'lp' },
  alias: { runs: 'definitions', flags: 'p' },
  exec: { runs: 'words', flags: 'cl', values: 'a' },
  command: { runs: 'words', flags: 'pvV' },
  builtin: { runs: 'words' },
  jobs: { runs: 'find', onlyWith: '-x' },
  env: {
    runs: 'words',
    flags: 'i0v',
    values: 'uC',
    long: 'ignore-environment null debug unset= chdir= block-signal default-signal ignore-signal list-signal-handling',
    scripts: '-S --split-string',
    assignments: true,
  },
  sudo: {
    runs: 'words',
    flags: 'AbBEHiKklnPSsVv',
    values: 'CDgpRrTtUu',
    long:
      'askpass background bell set-home login reset-timestamp remove-timestamp non-interactive preserve-groups stdin ' +
      'shell validate preserve-env close-from= chdir= group= host= prompt= chroot= role= type= command-timeout= user=',
    assignments: true,
  },
  doas: { runs: 'words', flags: 'nsL', values: 'Cua' },
  'su runuser': {
    runs: 'options',
    flags: 'lmpfP',
    values: 'ugGsw',
    long: 'login preserve-environment pty user= group= supp-group= shell= whitelist-environment=',
    scripts: '-c --command --session-command',
  },
  'xargs gxargs': {
    runs: 'words',
    flags: '0rtpxo',
    values: 'aEdILnPsJRS',
    attached: 'eil',
    long:
      'null no-run-if-empty verbose interactive exit open-tty arg-file= delimiter= max-args= max-procs= max-chars= ' +
      'process-slot-var= eof replace max-lines',
    appends: true,
  },
  parallel: {
    runs: 'script',
    flags: '0kmtXuq',
    values: 'jaSNnLIPd',
    long: 'null keep-order dry-run jobs= halt= delay= max-args= arg-file= tag line-buffer bar progress ungroup group',
    appends: true,
  },
  nice: { runs: 'words', flags: '0123456789', values: 'n', long: 'adjustment=' },
  nohup: { runs: 'words' },
  'timeout gtimeout': {
    runs: 'words',
    flags: 'fpv',
    values: 'ks',
    long: 'foreground preserve-status verbose kill-after= signal=',
    operands: 1,
  },
  time: { runs: 'words', flags: 'apvqV', values: 'fo', long: 'append portability verbose quiet format= output=' },
  watch: {
    runs: 'script',
    flags: 'bcegptwxrC',
    values: 'nq',
    attached: 'd',
    long: 'beep color differences errexit chgexit no-title no-wrap precise exec interval= equexit=',
  },
  stdbuf: { runs: 'words', values: 'ioe', long: 'input= output= error=' },
  setsid: { runs: 'words', flags: 'cfw', long: 'ctty fork wait' },
  ionice: { runs: 'words', flags: 't', values: 'cn', long: 'ignore class= classdata=' },
  chroot: { runs: 'words', long: 'userspec= groups= skip-chdir', operands: 1 },
  taskset: { runs: 'words', flags: 'ac', long: 'all-tasks cpu-list', operands: 1 },
  chrt: { runs: 'words', flags: 'abdfioRrv', values: 'TPD', operands: 1 },
  flock: {
    runs: 'words',
    flags: 'sxeunoFv',
    values: 'wE',
    long: 'shared exclusive unlock nonblock nb close no-fork verbose timeout= wait= conflict-exit-code=',
    scripts: '-c --command',
    operands: 1,
  },
  script: {
    runs: 'options',
    flags: 'aefqr',
    values: 'BIOTmoE',
    long: 'append return flush force quiet log-in= log-out= log-io= log-timing= logging-format= output-limit= echo=',
    scripts: '-c --command',
  },
  ssh: {
    runs: 'script',
    flags: '1246AaCfGgKkMNnqsTtVvXxYy',
    values: 'BbcDEeFIiJLlmOpQRSWw',
    scripts: '-o',
    operands: 1,
    optionsAgain: true,
  },
  'npx bunx pnpx': { runs: 'words', flags: 'yq', values: 'p', long: 'yes no quiet package=', scripts: '-c --call' },
  'uvx pipx': unknownOptions,
  'busybox toybox': { runs: 'words' },
  'gosu su-exec': { runs: 'words', operands: 1 },
  // `-o` is left out, because its value may be a command: `|rm x`.
  'strace ltrace': { runs: 'words', flags: 'cCdfFhiknqrtTvVwxyY', values: 'abeEIOpPsSuUX' },
  'unshare nsenter setpriv prlimit numactl cgexec systemd-run pkexec tini dumb-init fakeroot unbuffer': unknownOptions,
  'xvfb-run dbus-run-session caffeinate proxychains proxychains4 torsocks torify firejail bwrap proot': unknownOptions,
  'valgrind gdb lldb perf rlwrap entr watchexec chronic ts faketime catchsegv heaptrack start-stop-daemon':
    unknownOptions,
  'setarch linux32 linux64 i386 x86_64 uname26 choom systemd-inhibit': unknownOptions,
  'screen tmux dtach abduco chpst runcon sg newgrp machinectl ssh-agent sshpass dbus-launch': unknownOptions,
  'ld-linux-x86-64.so ld-linux-aarch64.so ld-linux.so ld-musl-x86_64.so ld-musl-aarch64.so': unknownOptions,
  'uv poetry pipenv pdm hatch rye conda mamba': { runs: 'words', subcommands: 'run exec develop shell' },
  rustup: { runs: 'words', subcommands: 'run:1' },
  nix: { runs: 'words', subcommands: 'run:1 shell:1 develop:1' },
  'docker podman nerdctl docker-compose podman-compose': {
    runs: 'words',
    subcommands: 'run:1 exec:1 unshare',
    flags: 'ditqP',
    values: 'euwvplmha',
    long:
      'detach interactive tty privileged rm init read-only publish-all quiet detach-keys= env= env-file= user= ' +
      'workdir= name= network= volume= publish= hostname= memory= cpus= label= platform= pull= mount= tmpfs= ' +
      'add-host= dns= restart=',
  },
  'kubectl oc': {
    runs: 'words',
    subcommands: 'exec:1',
    flags: 'itq',
    values: 'cn',
    long: 'stdin tty quiet container= namespace= context= pod-running-timeout=',
  },
  'direnv lxc incus crictl': { runs: 'words', subcommands: 'exec:1' },
  'distrobox toolbox': { runs: 'words', subcommands: 'enter:1 run' },
  heroku: { runs: 'words', subcommands: 'run' },
  wsl: { runs: 'script' },
  vagrant: { runs: 'code', onlyWith: '-c --command' },
  'fly flyctl': { runs: 'code', onlyWith: '-C --command' },
  'gcloud aws az': { runs: 'code', onlyWith: '--command --scripts' },
  'bundle mise rbenv pyenv asdf': { runs: 'words', subcommands: 'exec x' },
  'npm pnpm yarn': { runs: 'words', subcommands: 'exec x dlx explore:1' },
  ip: { runs: 'words', subcommands: 'exec:1' },
  'find gfind': { runs: 'find', onlyWith: '-exec -execdir -ok -okdir' },
  'fd fdfind': { runs: 'find', onlyWith: '-x -X --exec --exec-batch' },
  'at batch': { runs: 'code', input: true },
  'crontab expect osascript tclsh wish': code,
  'awk gawk mawk nawk': code,
  'pwsh powershell cmd': code,
  'python pypy perl ruby node nodejs deno bun lua luajit php rscript julia groovy scala guile racket sbcl': interpreter,
  'tsx ts-node': interpreter,
  'ed ex': code,
  'vim vi nvim view emacs emacsclient': {
    runs: 'code',
    onlyWith: '-c --cmd + -S -s -u -es --eval -eval --execute -execute -f -l --load',
  },
  git: {
    runs: 'git',
    flags: 'pPhv',
    values: 'C',
    long:
      'exec-path paginate no-pager git-dir= work-tree= namespace= super-prefix= config-env= attr-source= bare ' +
      'no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks ' +
      'no-advice no-lazy-fetch html-path man-path info-path version help',
    scripts: '-c',
  },
  'tar gtar bsdtar': {
    runs: 'code',
    bundled: true,
    onlyWith:
      '--checkpoint-action --to-command --use-compress-program --info-script --new-volume-script --rsh-command -I -F',
  },
  'rsync scp sftp': { runs: 'code', onlyWith: '-e --rsh --rsync-path -S -o -M --remote-option -D' },
  'sort gsort': { runs: 'code', onlyWith: '--compress-program' },
  'split gsplit': { runs: 'code', onlyWith: '--filter' },
  'man help less more pg most': { runs: 'code', onlyWith: '-P -H --pager --html + -K -k' },
  'rg ripgrep': { runs: 'code', onlyWith: '--pre --hostname-bin' },
  'sed gsed': { runs: 'code', onlyWith: '-f --file' },
  'zip unzip': { runs: 'code', onlyWith: '-T --unzip-command' },
  'make gmake': { runs: 'code', onlyWith: '--eval -E SHELL= MAKEFLAGS=' },
  cmake: { runs: 'code', onlyWith: '-E' },
  sqlite3: { runs: 'code', onlyWith: '.sh .sy -cmd -init' },
  dpkg: { runs: 'code', onlyWith: '--pre-invoke --post-invoke' },
  'go cargo': { runs: 'code', onlyWith: '-exec --exec -toolexec --toolexec -vettool --vettool --config' },
  'nix-shell': { runs: 'options', scripts: '--run --command -c' },
};

export const wrappers: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries(table).flatMap(([names, wrapper]) => names.split(' ').map((name) => [name, wrapper] as const)),
);

/** Git subcommands with the options whose value they run, or the word before a command. Empty: they run an operand. */
export const gitSubcommands: ReadonlyMap<string, string> = new Map([
  ['bisect', 'run'],
  ['submodule', 'foreach'],
  ['rebase', '-x --exec'],
  ['difftool', '-x --extcmd'],
  ['grep', '-O --open-files-in-pager'],
  ['filter-branch', '--tree-filter --index-filter --env-filter --msg-filter --commit-filter --parent-filter --setup'],
  ['clone', '-u --upload-pack -c --config'],
  ['fetch', '--upload-pack'],
  ['pull', '--upload-pack'],
  ['ls-remote', '--upload-pack --exec'],
  ['fetch-pack', '--upload-pack --exec'],
  ['push', '--receive-pack --exec'],
  ['send-pack', '--receive-pack --exec'],
  ['archive', '--exec'],
  ['remote-ext', ''],
]);

/** Builtins that change the meaning of later commands: variables, functions, the table of commands. */
export const assigningBuiltins: ReadonlySet<string> = new Set(
  (
    'export declare typeset local readonly read mapfile readarray getopts let hash enable unset unalias bind complete ' +
    'compgen compopt fc history'
  ).split(' '),
);
/** Builtins that run the substitutions in an argument even if it is quoted: `test -v 'a[$(rm x)]'`. */
export const evaluatingBuiltins: ReadonlySet<string> = new Set(
  'test [ let printf unset read declare typeset local export readonly mapfile readarray getopts wait'.split(' '),
);
