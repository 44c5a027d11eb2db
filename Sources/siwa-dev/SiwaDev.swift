// siwa-dev owns everything for trying siwa out: the fakes with their service, the tour, and the client behind
// `siwa login`. siwa contains none of them.

import ArgumentParser
import Composition
import EmulatorServer
import Foundation

/// The program `siwa-dev`. `siwa` starts it, under the name siwa, for commands that only `siwa-dev` has.
@main
struct SiwaDev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: StartedProgram.isSiwa ? "siwa" : "siwa-dev",
        abstract: "Try siwa: the service with a fake Apple and a fake Google.",
        version: SiwaVersion.described,
        subcommands: [Dev.self, Tour.self, Emulate.self, Login.self, Serve.self, Verify.self])

    static func main() async { await runNamedCommand() }
}

extension EmulatorListenError: ListenFailure {}
