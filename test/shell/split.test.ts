/** A manual by example: the simple commands of a shell command, and when the split is not certain. */
import { describe, expect, test } from 'vitest';
import { maxPartsLength, maxShellLength, maxShellParts, type Uncertainty } from '../../src/core/shell/parts.ts';
import { splitShell } from '../../src/shell/split.ts';

type Row = [command: string, parts: string[], ...uncertain: Uncertainty[]];

const check = (command: string, parts: string[], ...uncertain: Uncertainty[]): void => {
  const split = splitShell(command);
  expect([split.parts.map((part) => part.text), [...split.uncertain].sort()]).toEqual([parts, [...uncertain].sort()]);
};

describe('certain: the parts are exactly what runs', () => {
  test.each<Row>([
    ['git status', ['git status']],
    ['  git   status  # why', ['git status']],
    ['a; b && c || d | e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['a\nb\n\nc', ['a', 'b', 'c']],
    ['a |& b', ['a', 'b']],
    ['! a', ['a']],
    ['time -p a', ['a']],
    ['(a; (b))', ['a', 'b']],
    ['{ a; b; }', ['a', 'b']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['while a; do b; done', ['a', 'b']],
    ['until a; do b; done', ['a', 'b']],
    ['case x in y) a;; z|w) b;; esac', ['a', 'b']],
    ['f() { a; }; f', ['a', 'f']],
    ['function f { a; }', ['a']],
    ['echo "rm x"', ['echo rm x']],
    ['echo \'a; b\' "c && d"', ['echo a; b c && d']],
    ['"r"m \'-r\'f \\/', ['rm -rf /']],
    ['gi\\\nt sta\\\ntus', ['git status']],
    ['a \\\n b', ['a b']],
    ["a 'x\ny'", ['a x\ny']],
    ["a '' b", ['a  b']],
    ['a "\\"\\$b\\x"', ['a "$b\\x']],
    ['a 2>&1 >&2 2>&-', ['a']],
    ['cat <<E\nrm x\nE', ['cat']],
    ["cat <<'E'\n$(rm x)\nE\nb", ['cat', 'b']],
    ['cat <<-E\n\trm x\n\tE\nb', ['cat', 'b']],
    ["cat <<< 'rm x'", ['cat']],
    ['ls *.ts a?c [ab]', ['ls *.ts a?c [ab]']],
    ['ls ~/x', ['ls ~/x']],
    ['[ -f x ] && a', ['[ -f x ]', 'a']],
    ['echo !rm !! ^a^b', ['echo !rm !! ^a^b']],
    ['echo {a {} a,b', ['echo {a {} a,b']],
    ['echo “rm x” ‘y’', ['echo “rm x” ‘y’']],
    ['echo a\u00a0b\u2028c', ['echo a\u00a0b\u2028c']],
    ['gіt status', ['gіt status']],
    ['npm run build', ['npm run build']],
    ['python a.py --x', ['python a.py --x']],
    ['node --version', ['node --version']],
    ['git clean -fdx', ['git clean -fdx']],
    ['find . -name x -delete', ['find . -name x -delete']],
    ['tar czf a.tgz b', ['tar czf a.tgz b']],
  ])('%j', check);
});

describe('a text in the command that a shell reads is split, too', () => {
  const wrapped = 'wrapper program';
  test.each<Row>([
    ['cat <<E | sh\nrm x\nE', ['cat', 'sh', 'rm x'], wrapped],
    ["cat <<'E' | tr a b | sudo sh\nls; rm x\nE", ['cat', 'tr a b', 'sudo sh', 'sh', 'ls', 'rm x'], wrapped],
    ['bash <<< "rm x"', ['bash', 'rm x'], wrapped],
    ['sh <<-E\n\trm x\n\tE', ['sh', 'rm x'], wrapped],
    ['sh -s a <<E\nrm x\nE', ['sh -s a', 'rm x'], wrapped],
    ['bash /dev/stdin <<E\nrm x\nE', ['bash /dev/stdin', 'rm x'], wrapped],
    ['bash /dev/fd/3 3<<E\nrm x\nE', ['bash /dev/fd/3', 'rm x'], wrapped],
    ['. /dev/stdin <<< "rm x"', ['. /dev/stdin', 'rm x'], wrapped],
    ['sudo -s <<< "rm x"', ['sudo -s', 'rm x'], wrapped],
    ['su - u <<< "rm x"', ['su - u', 'rm x'], wrapped],
    ['ssh h <<< "rm x"', ['ssh h', 'rm x'], wrapped],
    ['at now <<< "rm x"', ['at now', 'rm x'], wrapped],
    ['docker exec -i b sh <<< "rm x"', ['docker exec -i b sh', 'sh', 'rm x'], wrapped],
    ['{ sh; } <<< "rm x"', ['sh', 'rm x'], wrapped],
    ['sh -c sh <<< "rm x"', ['sh -c sh', 'sh', 'rm x'], wrapped],
    ['sh <<< "bash <<< \'rm x\'"', ['sh', 'bash', 'rm x'], wrapped],
    ['echo "rm x" | sh', ['echo rm x', 'sh', 'rm x'], wrapped],
    ["printf '%s\\n' 'rm x' | sh", ['printf %s\\n rm x', 'sh', '%s', 'rm x'], wrapped],
    ['(ls; echo rm x) | sh', ['ls', 'echo rm x', 'sh', 'rm x'], wrapped],
    ['bash <(echo rm x)', ['bash <(echo rm x)', 'rm x', 'echo rm x'], wrapped, 'substitution'],
    ['sh <<< "rm $X"', ['sh', 'rm $X'], wrapped, 'expansion'],
    ['sh <<< "rm \'x"', ['sh', 'rm x'], wrapped, 'parse error'],
    ['echo a | sh | sh', ['echo a', 'sh', 'a', 'sh'], wrapped],
    // Neither reads it as a command.
    ['sh f.sh <<< "rm x"', ['sh f.sh'], wrapped],
    ['sudo tee f <<< "rm (x"', ['sudo tee f', 'tee f'], wrapped],
    ['python3 - <<< "rm (x"', ['python3 -'], wrapped],
    ['docker run -i img <<< "rm (x"', ['docker run -i img'], wrapped],
    ['xargs <<< "rm x"', ['xargs'], wrapped],
    ['echo rm x | grep x', ['echo rm x', 'grep x']],
  ])('%j', check);
});

describe('not certain: no allow with an args pattern counts', () => {
  test.each<Row>([
    ['', [], 'no command'],
    ['# rm x', [], 'no command'],
    ['a "b', ['a b'], 'parse error'],
    ['if a; then b', ['a', 'b'], 'parse error'],
    ['a )', ['a'], 'parse error'],
    ['cat <<E\nrm x', ['cat'], 'parse error'],
    ['a $(b "c', ['a $(b "c', 'b c'], 'parse error', 'substitution'],
    ['git status\r\nrm x', ['git status\r', 'rm x'], 'control character'],
    ['a\0b', ['a\0b'], 'control character', 'dynamic command name'],
    ['$x a', ['$x a'], 'dynamic command name', 'expansion'],
    ['"$@"', ['$@'], 'dynamic command name', 'expansion'],
    ['$(which rm) x', ['$(which rm) x', 'which rm'], 'dynamic command name', 'substitution'],
    ['{rm,-rf,/}', ['{rm,-rf,/}'], 'dynamic command name', 'expansion'],
    ['/bin/r? x', ['/bin/r? x'], 'dynamic command name'],
    ['*m x', ['*m x'], 'dynamic command name'],
    ['~/rm x', ['~/rm x'], 'dynamic command name'],
    ["'' x", [' x'], 'dynamic command name'],
    ["'git status' x", ['git status x'], 'dynamic command name'],
    ["$'rm' x", ['rm x'], 'not the same in every shell'],
    ["$'\\x72m' x", ['rm x'], 'not the same in every shell'],
    ["a $'\\ud800'", ['a \ufffd'], 'not the same in every shell'],
    ['$"rm" x', ['rm x'], 'not the same in every shell'],
    ['((rm x))', [], 'not the same in every shell'],
    ['[[ -f x ]]', [], 'not the same in every shell'],
    ['coproc a', ['a'], 'not the same in every shell'],
    ['ls !(a)', ['ls !(a)'], 'not the same in every shell'],
    ['echo $(a)', ['echo $(a)', 'a'], 'substitution'],
    ['echo "`a`"', ['echo `a`', 'a'], 'substitution'],
    ['echo "$(a "$(b)")"', ['echo $(a "$(b)")', 'a $(b)', 'b'], 'substitution'],
    ['diff <(a) <(b)', ['diff <(a) <(b)', 'a', 'b'], 'substitution'],
    ['a > >(b)', ['a', 'b'], 'substitution', 'redirection to a file'],
    ['cat <<E\n$(a)\nE', ['cat', 'a'], 'substitution'],
    ['cat <<< "$(a)"', ['cat', 'a'], 'substitution'],
    ['echo ${x:-$(a)}', ['echo ${x:-$(a)}', 'a'], 'expansion', 'substitution'],
    ['echo $((1 + $(a)))', ['echo $((1 + $(a)))', 'a'], 'expansion', 'substitution'],
    ['echo $[ $(a) ]', ['echo $[ $(a) ]', 'a'], 'expansion', 'substitution'],
    ['case $(a) in $(b)) c;; esac', ['a', 'b', 'c'], 'substitution'],
    ["test -v 'a[$(b)]'", ['b', 'test -v a[$(b)]'], 'substitution'],
    ['echo $HOME', ['echo $HOME'], 'expansion'],
    ['rm -rf {/,}', ['rm -rf {/,}'], 'expansion'],
    ['for i in a b; do c; done', ['c'], 'assignment'],
    ['for PATH in /tmp; do ls; done', ['ls'], 'assignment'],
    ['select i in a; do b; done', ['b'], 'assignment'],
    ['PATH=/tmp ls', ['ls'], 'assignment'],
    ['PATH=/tmp; ls', ['ls'], 'assignment'],
    ['LD_PRELOAD=./x.so git status', ['git status'], 'assignment'],
    ['a[$(b)]=1', ['b'], 'assignment', 'substitution'],
    ['export PATH=/tmp; ls', ['export PATH=/tmp', 'ls'], 'assignment'],
    ['read PATH <<< /tmp; ls', ['read PATH', 'ls'], 'assignment'],
    ['printf -v PATH /tmp; ls', ['printf -v PATH /tmp', 'ls'], 'assignment'],
    ['hash -p /tmp/x ls; ls', ['hash -p /tmp/x ls', 'ls'], 'assignment'],
    ['a > f', ['a'], 'redirection to a file'],
    ['a >> f', ['a'], 'redirection to a file'],
    ['a >| f', ['a'], 'redirection to a file'],
    ['a >& f', ['a'], 'redirection to a file'],
    ['a &> f', ['a'], 'redirection to a file'],
    ['a <> f', ['a'], 'redirection to a file'],
    ['a 2>/dev/null', ['a'], 'redirection to a file'],
    ['> f', [], 'redirection to a file'],
    ['{ a; } > f', ['a'], 'redirection to a file'],
    ['a >&$x', ['a'], 'redirection to a file', 'expansion'],
    ['a < f', ['a'], 'redirection from a file'],
    ['cat </dev/tcp/example.com/80', ['cat'], 'redirection from a file'],
  ])('%j', check);
});

describe('wrapper programs: what they start is a part too', () => {
  const opaque = (command: string): Row => [command, [command]];
  test.each<Row>([
    ['env A=b -i rm x', ['env A=b -i rm x', 'rm x']],
    ["env -S 'rm -rf' x", ['env -S rm -rf x', 'rm -rf x']],
    ['sudo -nu root rm x', ['sudo -nu root rm x', 'rm x']],
    ['sudo --user=root -- rm x', ['sudo --user=root -- rm x', 'rm x']],
    ['/usr/bin/sudo rm x', ['/usr/bin/sudo rm x', 'rm x']],
    ['SUDO rm x', ['SUDO rm x', 'rm x']],
    ['doas -u bob rm x', ['doas -u bob rm x', 'rm x']],
    ["su - bob -c 'a; b'", ['su - bob -c a; b', 'a', 'b']],
    ['xargs -0 -I% rm', ['xargs -0 -I% rm', 'rm', 'rm {}']],
    ['xargs', ['xargs']],
    ['timeout -k 5 10 rm x', ['timeout -k 5 10 rm x', 'rm x']],
    ['nice -n 5 nohup rm x', ['nice -n 5 nohup rm x', 'nohup rm x', 'rm x']],
    ['nice -5 rm x', ['nice -5 rm x', 'rm x']],
    ['ionice -c2 -n 0 rm x', ['ionice -c2 -n 0 rm x', 'rm x']],
    ['stdbuf -oL setsid -w rm x', ['stdbuf -oL setsid -w rm x', 'setsid -w rm x', 'rm x']],
    ['chroot --userspec=a / rm x', ['chroot --userspec=a / rm x', 'rm x']],
    ['\\time -f %e rm x', ['time -f %e rm x', 'rm x']],
    ["watch -n 2 'a; b'", ['watch -n 2 a; b', 'a', 'b']],
    ["bash -ec 'a; b' c d", ['bash -ec a; b c d', 'a', 'b']],
    ["sh -c -e 'a'", ['sh -c -e a', 'a']],
    ['dash -o errexit -c a', ['dash -o errexit -c a', 'a']],
    ['sh -c \'sh -c "a; b"\'', ['sh -c sh -c "a; b"', 'sh -c a; b', 'a', 'b']],
    opaque('bash x.sh'),
    opaque('bash'),
    ['curl x | sh', ['curl x', 'sh']],
    ["eval 'a;' b", ['eval a; b', 'a', 'b']],
    ['exec -a x rm y', ['exec -a x rm y', 'rm y']],
    ['command rm x', ['command rm x', 'rm x']],
    ['builtin cd x', ['builtin cd x', 'cd x']],
    ["trap 'a; b' EXIT", ['trap a; b EXIT', 'a', 'b']],
    ['find . -exec rm {} \\; -okdir ls {} +', ['find . -exec rm {} ; -okdir ls {} +', 'rm {}', 'ls {}']],
    ['fd x -x rm', ['fd x -x rm', 'rm']],
    ["git -c alias.x='!rm x' x", ['git -c alias.x=!rm x x', 'rm x', 'git x']],
    ['git -C d --no-pager push', ['git -C d --no-pager push', 'git push']],
    ["git rebase -i --exec 'a; b'", ['git rebase -i --exec a; b', 'a', 'b']],
    ['git submodule foreach --recursive a b', ['git submodule foreach --recursive a b', 'a b']],
    ['git bisect run a b', ['git bisect run a b', 'a b']],
    ['ssh -p 22 host rm x', ['ssh -p 22 host rm x', 'rm x']],
    ['parallel -j 2 rm ::: a b', ['parallel -j 2 rm ::: a b', 'rm', 'rm {}']],
    ['busybox rm x', ['busybox rm x', 'rm x']],
    ["flock f -c 'a; b'", ['flock f -c a; b', 'a', 'b']],
    ['npx -y a b', ['npx -y a b', 'a b']],
    ['tar xIf a b', ['tar xIf a b', 'a', 'b']],
    ["tar --checkpoint-act='exec=sh a' b", ['tar --checkpoint-act=exec=sh a b', 'sh a']],
    ["ssh -o ' ProxyCommand=rm x' h", ['ssh -o  ProxyCommand=rm x h', 'rm x']],
    ['ssh -o \'"ProxyCommand"=rm x\' h', ['ssh -o "ProxyCommand"=rm x h', 'rm x']],
    ["flock f --command 'rm x'", ['flock f --command rm x', 'rm x']],
    ['ip netns exec n rm x', ['ip netns exec n rm x', 'rm x']],
    ['npm explore p -- rm x', ['npm explore p -- rm x', 'rm x']],
    ['make -E rm x', ['make -E rm x', 'rm']],
    ["sftp -D 'rm x'", ['sftp -D rm x', 'rm x']],
    ["sqlite3 x '.shell rm x'", ['sqlite3 x .shell rm x']],
    ['cmake -E rm x', ['cmake -E rm x', 'rm']],
    ['uv run pytest -q', ['uv run pytest -q', 'pytest -q']],
    ['npm exec rimraf x', ['npm exec rimraf x', 'rimraf x']],
    ['/lib64/ld-linux-x86-64.so.2 /bin/rm x', ['/lib64/ld-linux-x86-64.so.2 /bin/rm x', '/bin/rm x']],
    opaque('. ./a'),
    opaque('source a'),
    opaque('python -c x'),
    opaque('python3.11 -m x'),
    opaque('node -e x'),
    opaque('perl -e x'),
    opaque('python'),
    opaque('awk 1'),
  ])('%j', (command, parts) => check(command, parts, 'wrapper program'));

  test.each<Row>([
    ['sudo --odd root rm x', ['sudo --odd root rm x', 'root rm x', 'rm x', 'x'], 'wrapper program', 'unknown option'],
    [
      "strace -o '|rm x' ls",
      ['strace -o |rm x ls', '|rm x ls', 'ls'],
      'wrapper program',
      'unknown option',
      'dynamic command name',
    ],
    ['unshare -r rm x', ['unshare -r rm x', 'rm x', 'x'], 'wrapper program', 'unknown option'],
    // env's own escape for a blank.
    ["env -S 'rm\\_x'", ['env -S rm\\_x', 'rm_x'], 'wrapper program', 'unknown option'],
    [
      "git remote-ext origin 'rm x'",
      ['git remote-ext origin rm x', 'origin rm x', 'rm x'],
      'wrapper program',
      'unknown option',
      'dynamic command name',
    ],
    ["bun exec 'rm x'", ['bun exec rm x'], 'wrapper program'],
    ["deno eval 'x()'", ['deno eval x()'], 'wrapper program'],
    ['go vet --vettool=/tmp/x ./...', ['go vet --vettool=/tmp/x ./...', '/tmp/x'], 'wrapper program'],
    ["emacs --execute '(rm x)'", ['emacs --execute (rm x)', 'rm x'], 'wrapper program'],
    ["bash --odd 'a;b'", ['bash --odd a;b', 'a', 'b', 'a', 'b'], 'wrapper program', 'unknown option'],
    [
      'docker run --odd box rm x',
      ['docker run --odd box rm x', 'box rm x', 'rm x', 'x'],
      'wrapper program',
      'unknown option',
    ],
    ['sudo *', ['sudo *', '*'], 'wrapper program', 'unknown option', 'dynamic command name'],
    ["bash -c '$0' rm", ['bash -c $0 rm', '$0'], 'wrapper program', 'dynamic command name', 'expansion'],
    ['sudo ls > f', ['sudo ls > f'.slice(0, 7), 'ls'], 'wrapper program', 'redirection to a file'],
    ["sh -c 'ls > f'", ['sh -c ls > f', 'ls'], 'wrapper program', 'redirection to a file'],
    ["alias ls='rm x'\nls", ['alias ls=rm x', 'rm x', 'ls'], 'wrapper program', 'assignment'],
    ['eval "$x"', ['eval $x', '$x'], 'wrapper program', 'dynamic command name', 'expansion'],
  ])('%j', check);
});

describe('a glob in whose place the name of a file may be an option that runs a command', () => {
  test.each<[string, string[]]>([
    ['find *', ['find *']],
    ['find f -exe[c] rm x \\;', ['find f -exe[c] rm x ;', 'rm x']],
    ["find f '-e'* rm x \\;", ['find f -e* rm x ;', 'rm x']],
    ['find f -exec ls {} \\; -e* rm x \\;', ['find f -exec ls {} ; -e* rm x ;', 'ls {}', 'rm x']],
    ['fd f -*h', ['fd f -*h', '']],
    ['tar cf a *', ['tar cf a *']],
    ['tar cf a *.txt', ['tar cf a *.txt']],
    ['tar cf a f -*', ['tar cf a f -*']],
    ['tar cf a --* f', ['tar cf a --* f', 'f']],
    ['tar c* a', ['tar c* a', 'a']],
    ['sort +(a|b)', ['sort +(a|b)']],
    ['make SHE* x', ['make SHE* x', 'x']],
    ['git grep -[O]rm x', ['git grep -[O]rm x', 'x']],
    ['git clone --uploa[d]-pack=rm x', ['git clone --uploa[d]-pack=rm x', 'rm']],
    ['git submodule fore* rm x', ['git submodule fore* rm x', 'rm x']],
    ['git bis* run rm x', ['git bis* run rm x', 'run rm x', 'rm x', 'x']],
    ['docker ex* rm x', ['docker ex* rm x', 'rm x', 'x']],
    // One word becomes two, of which the second is the command.
    ['nice -n * ls x', ['nice -n * ls x', '* ls x', 'ls x', 'x']],
    ['nice --adjustment * ls', ['nice --adjustment * ls', '* ls', 'ls']],
    ['env -u a* ls', ['env -u a* ls', 'a* ls', 'ls']],
    ['timeout [0-9] ls', ['timeout [0-9] ls', '[0-9] ls', 'ls']],
    ['ssh -p * host ls', ['ssh -p * host ls', '* host ls', '*', 'host ls', 'host', 'ls', 'ls']],
  ])('%j', (command, parts) => {
    const split = splitShell(command);
    expect([...split.uncertain]).toEqual(expect.arrayContaining(['wrapper program', 'unknown option']));
    expect(split.parts.map(({ text }) => text)).toEqual(parts.filter((part) => part !== ''));
  });

  test.each([
    'find . -name *.ts -print',
    'find . -name "*" -print',
    "sort '*'",
    'tar cf a ./* src/*.ts',
    'make x*',
    'git rebase ma*',
    'git grep a src/*.ts',
    'npm run bu*',
    'docker cp a* b:',
  ])('%j is certain', (command) => expect(splitShell(command).uncertain).toEqual([]));
});

describe('a part', () => {
  test('has its program without the path, and the wrappers that it came from', () => {
    expect(splitShell('/bin/ls /a; sudo env -i /bin/rm /b; c').parts).toEqual([
      { text: '/bin/ls /a', reduced: 'ls /a' },
      { text: 'sudo env -i /bin/rm /b', reduced: 'sudo env -i /bin/rm /b', wrapper: 'sudo' },
      { text: 'env -i /bin/rm /b', reduced: 'env -i /bin/rm /b', wrapper: 'env', within: 1, at: [5, 22] },
      { text: '/bin/rm /b', reduced: 'rm /b', wrapper: 'env', within: 2, at: [7, 17] },
      { text: 'c', reduced: 'c' },
    ]);
  });

  test.each([
    ['/usr/bin/python3.11 -c x', 'python3.11'],
    ['SUDO ls', 'SUDO'],
    ['bash.exe -c ls', 'bash.exe -c'],
    ['find . -exec rm {} +', 'find -exec'],
    ['git -c core.pager=less log', 'git -c'],
    ['git -C dir log', 'git'],
    ['docker exec box rm', 'docker exec'],
  ])('%j names its wrapper as written, without the path', (command, wrapper) => {
    expect(new Set(splitShell(command).parts.map((part) => part.wrapper))).toEqual(new Set([wrapper]));
  });

  test.each<[string, string[]]>([
    ['find . -exec ls {} \\; -exec rm {} +', ['ls {} ;', 'rm {} +']],
    ["sh -c 'ls;  rm x' y", ['ls;  rm x', 'ls;  rm x']],
    ['xargs -0 rm', ['rm', 'rm']],
    ['parallel -j 2 rm ::: a', ['rm', 'rm']],
    ['git -c alias.x=!rm -c a.b=c status', ['rm', 'c', 'status']],
    ["env -S 'rm -rf' x", ['rm -rf x']],
    ['ssh -p 22 host -o ProxyCommand=evil ls -l', ['evil', 'ls -l']],
    ['git rebase -x ls main', ['ls']],
    ["flock f -c 'ls'", ['ls']],
    ['tar -I gzip -cf x', ['gzip']],
    ['docker exec -it box ls', ['ls']],
    ['docker exec --odd box ls', ['box ls', 'ls']],
    ['kubectl exec pod -c app -- ls', ['ls']],
    ["alias a='ls'", ['ls']],
  ])('%j: the wrapper names what it runs there', (command, named) => {
    const { parts } = splitShell(command);
    const inner = parts.filter(({ within }) => within !== undefined);
    expect(inner.map(({ within, at }) => at && parts[within!]!.text.slice(...at))).toEqual(named);
  });

  test('in a substitution among the arguments of a wrapper does not come from the wrapper', () => {
    expect(splitShell('sudo ls $(rm x)').parts.at(-1)).toEqual({ text: 'rm x', reduced: 'rm x' });
  });
});

describe('hostile input', () => {
  test.each<[string, string, Uncertainty]>([
    ['1 MB', 'a;'.repeat(500_000), 'too long'],
    ['17 places after an unknown option', `sudo --odd ${'a '.repeat(17)}`, 'too long'],
    ['one character too long', 'a'.repeat(maxShellLength + 1), 'too long'],
    ['3,000 nested substitutions', `${'"$('.repeat(3_000)}a${')"'.repeat(3_000)}`, 'too long'],
    ['5,000 open substitutions', '$('.repeat(5_000), 'too long'],
    ['4,000 expansions in expansions', `a ${'$${'.repeat(4_000)}`, 'too long'],
    ['8,000 places at which a command may begin', `sudo -Z ${'a '.repeat(8_000)}`, 'too long'],
    ['5,000 open groups', '('.repeat(5_000), 'parse error'],
    ['16,000 backticks', '`'.repeat(16_000), 'substitution'],
    ['nested substitutions that repeat each other', `${'echo $('.repeat(200)}a${')'.repeat(200)}`, 'substitution'],
    ['5,000 parts', 'a;'.repeat(5_000), 'too long'],
    ['long parts in long parts', `${`echo ${'x'.repeat(60)} $(`.repeat(190)}a${')'.repeat(190)}`, 'too long'],
    ['wrappers of wrappers', `${'eval '.repeat(3_000)}a`, 'too long'],
    ['guesses of guesses', `${'sudo --odd '.repeat(1_000)}a`, 'too long'],
    ['guesses of text', `${'bash --odd '.repeat(1_000)}a`, 'too long'],
    ['5,000 arithmetic groups', `echo $((${'('.repeat(5_000)}`, 'parse error'],
    ['4,000 braces', `${'{a,'.repeat(4_000)}${'}'.repeat(4_000)}`, 'expansion'],
    ['5,000 here-documents', 'a <<E;'.repeat(2_500), 'parse error'],
    ['lone surrogates', 'a \ud800 $(\udc00)', 'substitution'],
  ])('%s terminates, uncertain and within the limits', (_case, command, reason) => {
    const split = splitShell(command);
    expect(split.uncertain).toContain(reason);
    expect(split.parts.length).toBeLessThanOrEqual(maxShellParts);
    expect(JSON.stringify(split.parts.map(({ text, reduced }) => text + reduced)).length).toBeLessThan(
      2 * maxPartsLength,
    );
    expect(JSON.parse(JSON.stringify(split))).toEqual(split);
  });

  test('a command of maximum length is split', () => {
    const longest = `a ${'b'.repeat(maxShellLength - 2)}`;
    expect(splitShell(longest)).toEqual({ parts: [{ text: longest, reduced: longest }], uncertain: [] });
  });
});

test.each([
  'git log 2>(rm x)',
  'git log 1<(rm x)',
  'git log {fd}>(rm x)',
  'git log {a[0]}>(rm x)',
  'for x in 2>(rm y); do git log; done',
  'case 2>(rm y) in *) git log;; esac',
  'a=(2>(rm x)) git log',
  'git log $\\\nHOME',
  'git log "$\\\n{x}" $\\\nIFS',
  'a[(x)]$(rm y)',
  'git a[(x)]$(rm y)',
  'echo ${x:-2>(rm y)} ${y:-$\\\n(rm z)}[(a)]$(rm y)',
])('what bash reads otherwise than the parser is uncertain: %j', (command) => {
  expect(splitShell(command).uncertain).toContain('parse error');
});

test.each([
  ['echo "${NAME:-hello world}" "${x// /_}"', ['expansion']],
  ['echo "${1:?usage: deploy (ENV)}"', ['expansion']],
  ['[[ $a =~ ^(a|b)$ ]] && echo yes', ['expansion', 'not the same in every shell']],
  ['echo "$\\"x\\""', []],
])('what people write in expansions and tests is no misreading: %s', (command, uncertain) => {
  expect(splitShell(command).uncertain.toSorted()).toEqual(uncertain);
});

test('where `time` is a program, its options come before the command that it runs', () => {
  const { parts, uncertain } = splitShell('time -f %e rm y');
  expect(parts.map(({ text }) => text)).toContain('rm y');
  expect(uncertain).toEqual(expect.arrayContaining(['not the same in every shell', 'wrapper program']));
});
