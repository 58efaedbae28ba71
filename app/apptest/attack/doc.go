// Package attack tests the built program from outside, in a memory cgroup of 256 MiB: remote servers and members store the largest entities that
// they can make, and clients read all of them by every route, send hostile bodies to every route with a body, and read slowly. The process must
// stay alive, the memory that the kernel cannot take back must stay below 230 MiB, and the home timelines of members must be answered all the time.
//
// It has tests only. TestMemory makes all attacks; TestAttack makes each of them alone, on a new server, and prints what it cost:
//
//	.ci/memory BINARY SECONDS
//	go test ./app/apptest/attack -run 'TestAttack/quotes$' -v -timeout 0 -duration 10s
//
// Each attack is a row of the table attacks. All requests of the attackers come from addresses of their own in 127.2.0.0/16, and nothing leaves
// the machine.
package attack
