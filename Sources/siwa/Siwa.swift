// siwa owns the process: its subcommands, its configuration, and which parts a running service is put together from.
// It owns no rule: those are in the rooms below.

import ArgumentParser

/// The command `siwa`.
@main
struct Siwa: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "siwa",
        abstract: "Sign in with Apple, as a service beside your backend.",
        discussion: """
            Your app gets an identity token from Apple; your backend posts it to siwa; siwa says who that is, and whether \
            Apple's credential still stands. Try it without an Apple account: siwa dev
            """,
        version: SiwaVersion.current,
        subcommands: [
            Serve.self, Doctor.self, Dev.self, Emulate.self, Verify.self, MakeAPIKey.self,
            MakeSealingKey.self,
            Reseal.self, Transfer.self, Version.self,
        ])
}
