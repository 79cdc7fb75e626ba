// SPDX-License-Identifier: GPL-2.0-or-later
// Every Kubernetes program of the test bed in one binary, so that one build and one download serve all.
//
// The program to be is the name the binary was called by (a link), or its first argument.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// etcd is not here: it has no cobra command, its entry function never returns.
var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-proxy":              proxy.NewProxyCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func isProgram(name string) bool {
	_, known := commands[name]
	return known || name == "etcd"
}

func programs() string {
	names := []string{"etcd"}
	for name := range commands {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

func main() {
	name := filepath.Base(os.Args[0])
	if !isProgram(name) && len(os.Args) > 1 {
		name = os.Args[1]
		os.Args = os.Args[1:]
	}
	switch {
	case name == "etcd":
		etcdmain.Main(os.Args)
	case isProgram(name):
		os.Exit(cli.Run(commands[name]()))
	default:
		fmt.Fprintf(os.Stderr, "usage: kube PROGRAM [ARGUMENT...]\nprograms: %s\n", programs())
		os.Exit(2)
	}
}
