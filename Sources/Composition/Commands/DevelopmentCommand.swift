import CBuildCommit

/// The version of this build.
package enum SiwaVersion {
    package static let current = "0.1.0"

    /// The version, and the commit of a release build, for `--version`.
    package static var described: String {
        let commit = String(cString: siwa_build_commit())
        return commit.isEmpty ? current : "\(current) (commit \(commit))"
    }
}

/// The siwa-dev commands. siwa starts siwa-dev for them.
package enum DevelopmentCommand: String, CaseIterable, Sendable {
    case dev, tour, emulate, login

    /// A one-line description of the command, which both programs show in their help.
    package var abstract: String {
        switch self {
        case .dev: "Run the service with a fake Apple and a fake Google beside it, and print what to try."
        case .tour: "Follow one user through siwa dev, from the first sign-in to the deletion."
        case .emulate: "Run the fake Apple alone, or the fake Google, or receivers of events."
        case .login:
            "Sign in to an OAuth 2.0 server as a native app, and store the tokens in a private file."
        }
    }
}
