import ArgumentParser

/// `siwa google`
struct Google: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Register the receiver of Google's security events, and test it.",
        subcommands: [GoogleRISC.self])
}

/// `siwa google risc`
struct GoogleRISC: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "risc",
        abstract: "Google's Cross-Account Protection (RISC), which has no field in Google's console.",
        discussion: """
            Needs a project in which the RISC API is enabled, and the JSON key file of a service account of \
            that project with the role RISC Configuration Admin (roles/riscconfigs.admin). The project is that \
            of google_client_ids. The file is used on this machine only: Google gets a token that the key \
            has signed, which is valid for an hour.

            The URL comes from the configuration of siwa serve, or from --url.
            """,
        subcommands: [RegisterEvents.self, EventsStatus.self, VerifyEvents.self, UnregisterEvents.self])
}
