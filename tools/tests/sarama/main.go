// SPDX-License-Identifier: GPL-2.0

// A Kafka client and a broker, both from the Sarama package, for the end-to-end test of
// the incident. Commands come on standard input, answers go to standard output.
//
//	sarama broker ADDRESS:PORT       "listening"; ends with its input, and the kernel sends the FINs
//	sarama client ADDRESS:PORT N     N clients, each with its seed connection; "connected"
//	    send     asks for metadata on the first connection, prints the error
//	    close    closes all clients, prints "closed"
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/Shopify/sarama"
)

type reporter struct{}

func (reporter) Error(a ...interface{})            { fmt.Fprintln(os.Stderr, a...) }
func (reporter) Errorf(f string, a ...interface{}) { fmt.Fprintf(os.Stderr, f+"\n", a...) }
func (reporter) Fatal(a ...interface{})            { fmt.Fprintln(os.Stderr, a...); os.Exit(1) }
func (reporter) Fatalf(f string, a ...interface{}) { reporter{}.Errorf(f, a...); os.Exit(1) }

func serve(address string) {
	broker := sarama.NewMockBrokerAddr(reporter{}, 1, address)
	broker.SetHandlerByMap(map[string]sarama.MockResponse{
		"MetadataRequest": sarama.NewMockMetadataResponse(reporter{}).SetBroker(address, 1),
	})
	fmt.Println("listening")
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
	}
}

func connect(address string) sarama.Client {
	config := sarama.NewConfig()
	config.Net.KeepAlive = time.Second // the probe that a broker without the connection answers by RST
	config.Metadata.RefreshFrequency = 0
	client, err := sarama.NewClient([]string{address}, config)
	if err != nil {
		reporter{}.Fatal(err)
	}
	return client
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "broker" {
		serve(os.Args[2])
		return
	}
	if len(os.Args) != 4 || os.Args[1] != "client" {
		fmt.Fprintln(os.Stderr, "usage: sarama broker ADDRESS:PORT | sarama client ADDRESS:PORT N")
		os.Exit(2)
	}
	count, _ := strconv.Atoi(os.Args[3])
	var clients []sarama.Client
	for i := 0; i < count; i++ {
		clients = append(clients, connect(os.Args[2]))
	}
	fmt.Println("connected")
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		switch input.Text() {
		case "send":
			fmt.Println(clients[0].RefreshMetadata())
		case "close":
			for _, client := range clients {
				client.Close()
			}
			fmt.Println("closed")
		}
	}
}
