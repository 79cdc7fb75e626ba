// SPDX-License-Identifier: GPL-2.0-or-later
// A device plugin without hardware: offers the kubelet resources whose devices are character devices that do no harm.
//
//	device-plugin --devices FOLDER --plugins FOLDER RESOURCE;PATH;ID;VARIABLE;NUMBER NUMBER…
//
// PATH in the container and ID have a verb for the device's number, as fmt has it. A container gets the ids of its
// devices in VARIABLE, in the order in which the kubelet chose them, unless VARIABLE is empty.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// device is one device of a resource.
type device struct {
	file      string // on this machine
	container string // its path in a container
}

// plugin offers one resource. The kubelet knows its devices by their ids.
type plugin struct {
	api.UnimplementedDevicePluginServer
	resource string
	variable string
	ids      []string
	devices  map[string]device
}

// Of /dev/null, zero, full, random and urandom.
var minors = []int{3, 5, 7, 8, 9}

// parsePlugin makes the devices' files, too.
func parsePlugin(text, folder string) (*plugin, error) {
	fields := strings.Split(text, ";")
	if len(fields) != 5 {
		return nil, fmt.Errorf("%q: must be RESOURCE;PATH;ID;VARIABLE;NUMBERS", text)
	}
	p := &plugin{resource: fields[0], variable: fields[3], devices: map[string]device{}}
	for i, word := range strings.Fields(fields[4]) {
		number, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		d := device{container: fmt.Sprintf(fields[1], number)}
		d.file = filepath.Join(folder, d.container)
		if err := os.MkdirAll(filepath.Dir(d.file), 0o755); err != nil {
			return nil, err
		}
		major := 1 // minors fit into one byte: the number is major * 256 + minor
		err = syscall.Mknod(d.file, syscall.S_IFCHR|0o666, major<<8|minors[i%len(minors)])
		if err != nil && err != syscall.EEXIST {
			return nil, fmt.Errorf("mknod %s: %w", d.file, err)
		}
		id := fmt.Sprintf(fields[2], number)
		p.ids = append(p.ids, id)
		p.devices[id] = d
	}
	return p, nil
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	answer := &api.ListAndWatchResponse{}
	for _, id := range p.ids {
		answer.Devices = append(answer.Devices, &api.Device{ID: id, Health: api.Healthy})
	}
	if err := stream.Send(answer); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		given := &api.ContainerAllocateResponse{}
		for _, id := range container.DevicesIds {
			d, known := p.devices[id]
			if !known {
				return nil, fmt.Errorf("%s: no device %s", p.resource, id)
			}
			given.Devices = append(given.Devices,
				&api.DeviceSpec{HostPath: d.file, ContainerPath: d.container, Permissions: "rw"})
		}
		if p.variable != "" {
			given.Envs = map[string]string{p.variable: strings.Join(container.DevicesIds, ",")}
		}
		answer.ContainerResponses = append(answer.ContainerResponses, given)
		log.Printf("%s: gave %v", p.resource, container.DevicesIds)
	}
	return answer, nil
}

// serve opens the plugin's socket and registers it with the kubelet.
func (p *plugin) serve(folder string) (*grpc.Server, error) {
	endpoint := "slurm-k8s-bed-" + strings.ReplaceAll(p.resource, "/", "-") + ".sock"
	socket := filepath.Join(folder, endpoint)
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, p)
	go func() { _ = server.Serve(listener) }()

	kubelet, err := grpc.NewClient("unix://"+filepath.Join(folder, "kubelet.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		defer kubelet.Close()
		limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, err = api.NewRegistrationClient(kubelet).Register(limited, &api.RegisterRequest{
			Version: api.Version, Endpoint: endpoint, ResourceName: p.resource})
	}
	if err != nil {
		server.Stop()
		return nil, fmt.Errorf("%s: %w", p.resource, err)
	}
	log.Printf("%s: registered %v", p.resource, p.ids)
	return server, nil
}

// serveAll registers with each kubelet that comes: one that starts removes the sockets of all plugins.
func serveAll(plugins []*plugin, folder string) {
	var kubelet os.FileInfo
	var servers []*grpc.Server
	for ; ; time.Sleep(500 * time.Millisecond) {
		now, err := os.Stat(filepath.Join(folder, "kubelet.sock"))
		if err != nil || (kubelet != nil && os.SameFile(kubelet, now) && kubelet.ModTime().Equal(now.ModTime())) {
			continue
		}
		for _, server := range servers {
			server.Stop()
		}
		servers, kubelet = nil, now
		for _, p := range plugins {
			server, err := p.serve(folder)
			if err != nil {
				log.Print(err)
				kubelet = nil // again
				break
			}
			servers = append(servers, server)
		}
	}
}

func main() {
	devices := flag.String("devices", "", "folder for the device files")
	folder := flag.String("plugins", api.DevicePluginPath, "folder of the sockets")
	flag.Parse()
	if *devices == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	syscall.Umask(0)
	var plugins []*plugin
	for _, text := range flag.Args() {
		p, err := parsePlugin(text, *devices)
		if err != nil {
			log.Fatal(err)
		}
		plugins = append(plugins, p)
	}
	serveAll(plugins, *folder)
}
