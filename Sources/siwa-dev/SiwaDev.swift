// siwa-dev owns the trial: the fakes beside a service of their own, the tour, and the client of siwa login. Nothing
// here is part of siwa.

import ArgumentParser
import Composition
import EmulatorServer
import Foundation

/// The program `siwa-dev`. `siwa` starts it for the commands that it has, under the name of siwa.
@main
struct SiwaDev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: StartedProgram.isSiwa ? "siwa" : "siwa-dev",
        abstract: "Try siwa: the service with a fake Apple and a fake Google.",
        version: SiwaVersion.current,
        subcommands: [Dev.self, Tour.self, Emulate.self, Login.self, Serve.self, Verify.self])

    static func main() async { await runNamedCommand() }
}

extension EmulatorListenError: ListenFailure {}
