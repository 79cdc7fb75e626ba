# SPDX-License-Identifier: GPL-2.0-or-later
# The convenience libraries of lib/ and engine/, the dependent ones first. Included by each Makefile.am that links them.

LIBS_KUBE = \
	$(top_builddir)/lib/libkube.la \
	$(top_builddir)/lib/libhttp.la \
	$(top_builddir)/lib/libevent.la \
	$(top_builddir)/lib/libjson.la \
	$(top_builddir)/lib/libbase.la

# What knows NodeSets, Slurm's interface and the engine's socket.
LIBS_NODESET = \
	$(top_builddir)/lib/libcontrol.la \
	$(top_builddir)/lib/libnodeset.la \
	$(top_builddir)/lib/libsettings.la \
	$(top_builddir)/lib/libslurmport.la \
	$(top_builddir)/lib/libhostlist.la \
	$(LIBS_KUBE)

LIBS_ENGINE = \
	$(top_builddir)/engine/libengine.la \
	$(LIBS_NODESET)
