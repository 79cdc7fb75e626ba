#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""images/slurmctld/config/trial.py: which slurm.conf a trial has, what its log says, and which line that is about.
Prints TAP."""
import os
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../support'))
import tap

sys.path.insert(0, os.path.join(tap.TOP, 'images/slurmctld/config'))
import sets
import trial


class TrialConf(unittest.TestCase):
    def test_lines_that_the_trial_replaces(self):
        for line in ('SlurmctldHost=slurm-controller', 'slurmctldport = 6817', '  StateSaveLocation=/var/spool/slurmctld',
                     'SlurmctldPidFile=/run/slurmctld.pid', 'AccountingStorageHost=db', 'AccountingStorageEnforce=limits',
                     'AuthAltTypes=auth/jwt', 'AuthAltParameters=jwt_key=/x', 'ResumeProgram=/x', 'SuspendProgram=/x',
                     'ResumeFailProgram=/x', 'JobCompType=jobcomp/filetxt', 'SlurmctldPrimaryOnProg=/x',
                     'SlurmctldPrimaryOffProg=/x', 'PrologSlurmctld=/etc/slurm/p.sh', 'EpilogSlurmctld=/x'):
            with self.subTest(line):
                text = trial.trial_conf(f'ClusterName=a\n{line}\nMaxJobCount=5', '/state')
                self.assertEqual(text.split('\n')[:3], ['ClusterName=a', '', 'MaxJobCount=5'])

    def test_lines_that_stay(self):
        for line in ('# SlurmctldHost=a', 'MaxJobCount=5', 'ResumeTimeout=90', 'PartitionName=main Nodes=ALL',
                     'AuthType=auth/slurm', 'Prolog=/etc/slurm/p.sh'):
            with self.subTest(line):
                self.assertEqual(trial.trial_conf(line, '/state').split('\n')[0], line)

    def test_settings_of_its_own(self):
        lines = trial.trial_conf('ClusterName=a', '/state').split('\n')
        for line in (f'SlurmctldHost={os.uname().nodename}', 'SlurmctldPort=6899', 'StateSaveLocation=/state'):
            with self.subTest(line):
                self.assertIn(line, lines)

    def test_a_node_for_gres_conf(self):
        for text, gres in (('GresTypes=gpu', ['gpu:1']), (' grestypes = foo,gpu', ['gpu:1']), ('GresTypes=foo', ['foo:1']),
                           ('GresTypes=mps,foo', ['foo:1']), ('GresTypes=foo\nGresTypes=bar', ['bar:1']),
                           ('#GresTypes=gpu', []), ('ClusterName=gpu', []), ('GresTypes=', [])):
            with self.subTest(text):
                self.assertEqual(re.findall(r'Gres=(\S+)', trial.trial_conf(text, '/state')), gres)


class Trial(unittest.TestCase):
    """With a program in slurmctld's place, which writes a line and goes on, or ends."""
    TABLE = (
        ('it starts', f'echo "slurmctld: {trial.STARTED}"; exec sleep 60', True),
        ('it ends', 'echo "slurmctld: fatal: no such thing"; exit 1', False),
        ('it ends well, without a start', 'exit 0', False),
        ('it needs longer than the trial has', 'exec sleep 60', True),
    )

    def test_table(self):
        for what, script, passes in self.TABLE:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, 'slurmctld')
                with open(program, 'w', encoding='utf-8') as file:
                    file.write(f'#!/bin/sh\necho $$ >{folder}/pid\n{script}\n')
                os.chmod(program, 0o755)
                environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
                with mock.patch.object(trial, 'TRIAL_SECONDS', 2), mock.patch.dict(os.environ, environment):
                    self.assertEqual(trial.run_trial('slurm.conf', os.path.join(folder, 'log'), environment), passes)
                with open(os.path.join(folder, 'pid'), encoding='utf-8') as file:
                    self.assertFalse(os.path.exists(f'/proc/{file.read().strip()}'))


class Plugstack(unittest.TestCase):
    """With a program in srun's place."""
    TABLE = (
        ('nothing is wrong', 'echo usage', []),
        ('a line of plugstack.conf', 'echo "srun: error: /trial/plugstack.conf: 1: Invalid keyword: x" >&2; exit 1',
         ['plugstack.conf: 1: Invalid keyword: x']),
        ('a plugin of other images', 'echo "srun: error: spank: x.so: not found" >&2; exit 1', []),
        ('it needs longer than the trial has', 'exec sleep 60', []),
    )

    def test_table(self):
        for what, script, errors in self.TABLE:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, 'srun')
                with open(program, 'w', encoding='utf-8') as file:
                    file.write(f'#!/bin/sh\n{script}\n')
                os.chmod(program, 0o755)
                environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
                with mock.patch.object(trial, 'TRIAL_SECONDS', 1), mock.patch.dict(os.environ, environment):
                    self.assertEqual(trial.plugstack_errors('/trial', environment), errors)


class Messages(unittest.TestCase):
    TABLE = (
        ('nothing', '', []),
        ('an error', 'slurmctld: error: no such thing', ['no such thing']),
        ('the end', 'slurmctld: fatal: cannot go on', ['cannot go on']),
        ('what is no error', 'slurmctld: slurmctld version 24.11.5 started', []),
        ('the name of a function', 'slurmctld: error: _parse_next_key: Parsing error', ['Parsing error']),
        ('the folder of the trial', 'slurmctld: error: /trial/conf/slurm.conf: bad', ['slurm.conf: bad']),
        ('the same twice', 'error: a\nerror: b\nerror: a', ['a', 'b']),
        ('a line of a file without secrets', 'error: Parse error in file /trial/conf/gres.conf line 2: "a"',
         ['Parse error in file gres.conf line 2: "a"']),
        ('a line of a file that may be of a Secret', 'error: Parse error in file /trial/conf/acct.conf line 2: "Pass=x"',
         ['Parse error in file acct.conf line 2']),
        ('what each trial says', 'error: Could not open node state file /x\nerror: engine not started\nerror: a', ['a']),
    )

    def test_table(self):
        for name, log, expected in self.TABLE:
            with self.subTest(name):
                self.assertEqual(trial.messages(log, '/trial/conf'), expected)


class AutoDetect(unittest.TestCase):
    LOG = 'slurmctld: error: Cannot use AutoDetect on cloud/dynamic node "slurm-k8s-trial"'

    def test_table(self):
        for text, line in (('Include /run/slurm-k8s/gres.conf\nAutoDetect=nvml', 'gres.conf line 2: "AutoDetect=nvml": '),
                           ('NodeName=metal AutoDetect=rsmi\n autodetect = nvidia', 'gres.conf line 2: "autodetect = nvidia": '),
                           ('AutoDetect=off\n#AutoDetect=nvml\nInclude site.conf', 'site.conf line 1: "AutoDetect=nvml": '),
                           ('NodeName=slurm-k8s-trial AutoDetect=nvml', 'gres.conf: AutoDetect: ')):
            with self.subTest(text):
                texts = {'gres.conf': text, 'site.conf': 'AutoDetect=nvml'}
                [error] = trial.auto_detect_errors(self.LOG, texts)
                self.assertTrue(error.startswith(line), error)

    def test_slurmctld_says_nothing(self):
        self.assertEqual(trial.auto_detect_errors('slurmctld: error: other', {'gres.conf': 'NodeName=a AutoDetect=nvml'}), [])


class Scripts(unittest.TestCase):
    TABLE = (
        ('a right one', '#!/bin/bash\nif true; then echo; fi\n', []),
        ('bash', '#!/bin/bash\nif true\nfi\n', ["prolog.sh: line 3: syntax error near unexpected token `fi'"]),
        ('sh, by env', '#!/usr/bin/env sh\nif true\nfi\n', ["prolog.sh: line 3: syntax error near unexpected token `fi'"]),
        ('its end', '#!/bin/bash\ntrue\nif true\n', ['prolog.sh: line 4: syntax error: unexpected end of file']),
        ('arrays, where sh is bash', '#!/bin/sh\nnames=(a b)\n', []),
        ('another language', '#!/usr/bin/python3\nif true\nfi\n', []),
        ('no script', 'if true\nfi\n', []),
        ('bytes that are not UTF-8', b'#!/bin/sh\necho \xe4\n'.decode(errors='surrogateescape'), []),
    )

    def test_table(self):
        for name, text, expected in self.TABLE:
            with self.subTest(name):
                with tempfile.TemporaryDirectory() as folder:
                    texts = {'prolog.sh': text}
                    sets.write_set(os.path.join(folder, 'set'), texts)
                    self.assertEqual(trial.script_errors(texts, os.path.join(folder, 'set')), expected)


class Plugins(unittest.TestCase):
    """Those that the trial does not load; the image has jobcomp_filetxt.so and accounting_storage_slurmdbd.so."""
    TABLE = (
        ('none', 'ClusterName=a\n', []),
        ('one that is there', 'JobCompType=jobcomp/filetxt\n', []),
        ('one that is not', 'A=1\nJobCompType=jobcomp/typo\n', [('slurm.conf line 2: JobCompType=jobcomp/typo', 'jobcomp_typo')]),
        ('other letters and quotes', ' jobcomptype = "jobcomp/typo" # x\n',
         [('slurm.conf line 1: JobCompType=jobcomp/typo', 'jobcomp_typo')]),
        ('the last one counts', 'JobCompType=jobcomp/typo\nJobCompType=jobcomp/filetxt\n', []),
        ('a comment', '#JobCompType=jobcomp/typo\n', []),
        ('accounting', 'AccountingStorageType=accounting_storage/slurmdbd\n', []),
        ('accounting that is not there', 'AccountingStorageType=accounting_storage/mysql\n',
         [('slurm.conf line 1: AccountingStorageType=accounting_storage/mysql', 'accounting_storage_mysql')]),
        ('one of several', 'AuthAltTypes=jobcomp/filetxt,auth/typo\n',
         [('slurm.conf line 1: AuthAltTypes=jobcomp/filetxt,auth/typo', 'auth_typo')]),
        ('in an included file', 'Include site.conf\n', [('site.conf line 1: JobCompType=jobcomp/site', 'jobcomp_site')]),
        ('plugins that the trial loads', 'TopologyPlugin=topology/typo\n', []),
    )

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ('jobcomp_filetxt.so', 'accounting_storage_slurmdbd.so'):
            open(os.path.join(self.folder, name), 'w', encoding='utf-8').close()

    def test_table(self):
        for name, text, expected in self.TABLE:
            with self.subTest(name), mock.patch.object(trial, 'PLUGIN_FOLDERS', (self.folder,)):
                errors = trial.plugin_errors({'slurm.conf': text, 'site.conf': 'JobCompType=jobcomp/site\n'})
                self.assertEqual(errors, [f'{place}: no plugin {plugin}.so in {self.folder}' for place, plugin in expected])

    def test_plugin_dir(self):
        for folders, errors in ((f'/nowhere:{self.folder}', 0), ('/nowhere', 1)):
            with self.subTest(folders):
                texts = {'slurm.conf': f'PluginDir={folders}\nJobCompType=jobcomp/filetxt\n'}
                self.assertEqual(len(trial.plugin_errors(texts)), errors)

    def test_nobody_knows_the_folder(self):
        with mock.patch.object(trial, 'PLUGIN_FOLDERS', ('/nowhere/*',)):
            self.assertEqual(trial.plugin_errors({'slurm.conf': 'JobCompType=jobcomp/typo\n'}), [])

    def test_each_replaced_plugin_is_looked_for(self):
        replaced = [name for name in ('AccountingStorageType', 'AuthAltTypes', 'JobCompType', 'TopologyPlugin', 'AuthType')
                    if trial.REPLACED.match(name + '=x')]
        self.assertEqual(replaced, list(trial.PLUGINS))


class Programs(unittest.TestCase):
    """Scripts that slurm.conf names."""
    TABLE = (
        # a line of slurm.conf, what is said of it
        ('Prolog=prolog.sh', ''),
        (' epilog = "prolog.sh" # both', ''),
        ('Prolog=prlog.sh', 'prlog.sh: no such file'),
        ('taskprolog=prlog.sh', 'prlog.sh: no such file'),
        ('Epilog=notes', 'notes: it does not begin with #!'),
        ('Prolog=program', ''),
        ('Prolog=/etc/site/prolog.sh', ''),  # of the nodes' image, or mounted there
        ('Prolog=/etc/slurm/prlog.sh', ''),
        ('Prolog=prolog.d/*', ''),
        ('PrologSlurmctld=/etc/slurm/prolog.sh', ''),
        ('PrologSlurmctld=prolog.sh', ''),
        ('EpilogSlurmctld=/etc/slurm/prlog.sh', 'prlog.sh: no such file'),
        ('PrologSlurmctld=notes', 'notes: it does not begin with #!'),
        ('PrologSlurmctld=/usr/bin/true', ''),
        ('#Prolog=prlog.sh', ''),
        ('PrologFlags=Alloc', ''),
        ('SrunProlog=prlog.sh', ''),  # of who runs srun
    )

    def test_table(self):
        for line, expected in self.TABLE:
            with self.subTest(line):
                errors = trial.program_errors({'slurm.conf': f'ClusterName=a\n{line}\n', 'prolog.sh': '#!/bin/sh\n',
                                               'program': '\x7fELF', 'notes': 'exit 0\n'})
                self.assertEqual(errors, [f'slurm.conf line 2: "{line}": {expected}'] if expected else [])

    def test_included_files(self):
        texts = {'slurm.conf': 'include site.conf\nInclude /etc/slurm/more.conf\nInclude other/prolog.conf\n',
                 'site.conf': 'Include site.conf\nInclude slurm.conf\n\nProlog=away.sh\n', 'more.conf': 'Epilog=gone.sh',
                 'not.conf': 'Prolog=nobody.sh\n'}
        self.assertEqual(trial.program_errors(texts), ['site.conf line 4: away.sh: no such file',
                                                       'more.conf line 1: gone.sh: no such file'])


class Place(unittest.TestCase):
    LIVE = {'slurm.conf': 'ClusterName=a\nMaxJobCount=5', 'gres.conf': 'Name=foo Count=1'}
    TABLE = (
        ('the changed line', 'slurm.conf', 'ClusterName=a\nMaxJobCont=7',
         ['Parsing error at unrecognized key: MaxJobCont'], 'slurm.conf line 2: "MaxJobCont=7": '),
        ('an inserted line with most of the words', 'slurm.conf',
         'ClusterName=a\nFoo=1\nSelectType=select/none\nMaxJobCount=5', ['cannot find select plugin for select/none'],
         'slurm.conf line 3: "SelectType=select/none": '),
        ('another file', 'gres.conf', 'Name=foo Count=1\nNme=bar', ['Parsing error at unrecognized key: Nme'],
         'gres.conf line 2: "Nme=bar": '),
        ('a file that may be of a Secret', 'acct_gather.conf', 'ProfileInfluxDBPass=x', ['out of memory'],
         'acct_gather.conf line 1: '),
        ('the only change, without its words', 'slurm.conf', 'ClusterName=a\nMaxJobCount=6', ['out of memory'],
         'slurm.conf line 2: "MaxJobCount=6": '),
        ('one of several changes, without words', 'slurm.conf', 'ClusterName=b\nMaxJobCount=6', ['out of memory'], ''),
        ('comments are no cause', 'slurm.conf', 'ClusterName=a\n# MaxJobCont\nMaxJobCont=7',
         ['unrecognized key: MaxJobCont'], 'slurm.conf line 3: "MaxJobCont=7": '),
        ('a message that has the line', 'slurm.conf', 'ClusterName=a\nMaxJobCont=7',
         ['Parse error in file slurm.conf line 2: "MaxJobCont=7"'], ''),
        ('a line that was there before', 'slurm.conf', 'ClusterName=a\nMaxJobCount=5', ['bad: MaxJobCount'], ''),
    )

    def test_table(self):
        for name, file, text, errors, expected in self.TABLE:
            with self.subTest(name):
                self.assertEqual(trial.place(errors, {**self.LIVE, file: text}, self.LIVE), expected)

    def test_a_line_of_another_encoding_can_be_told(self):
        found = trial.place(['x'], {'slurm.conf': b'ClusterName=\xe4'.decode(errors='surrogateescape')}, {})
        self.assertEqual(found, 'slurm.conf line 1: "ClusterName=\ufffd": ')

    def test_a_long_line_is_cut(self):
        found = trial.place(['x'], {'slurm.conf': 'ClusterName=' + 'b' * 500}, {'slurm.conf': 'ClusterName=a'})
        self.assertEqual(found, 'slurm.conf line 1: "ClusterName=' + 'b' * 108 + '": ')


if __name__ == '__main__':
    sys.exit(tap.main())
