/// The output of `siwa dev` when it is ready. It fits a terminal of 24 lines and 80 columns.
struct DevelopmentBanner {
    let servicePort: Int
    let applePort: Int
    /// `nil` without OAuth clients.
    let googlePort: Int?
    let receiverPort: Int
    let secret: String
    let clientID: String
    /// True if the database is kept after the run.
    let isPermanent: Bool
    /// Name by which this program was started.
    let program: String

    var text: String {
        """

        siwa       http://127.0.0.1:\(servicePort)  leads to everything below
        fake Apple http://127.0.0.1:\(applePort)  users, and signing in on an iPhone
        \(google)receivers  http://127.0.0.1:\(receiverPort)  show the events that siwa sends
        API key    \(secret)
        \(clients)
        In another terminal:
          \(program) tour\(options)
              follows one user from the first sign-in to the deletion, step by step;
              with --print it prints the commands, to paste
        \(login)
        Ctrl-C ends all\(isPermanent ? "; the database is kept" : ", and forgets all: --database keeps it").

        """
    }

    private var google: String {
        googlePort.map { "fake Google http://127.0.0.1:\($0) links accounts with Google\n" } ?? ""
    }

    private var clients: String {
        guard googlePort != nil else { return "" }
        return """

            OAuth client \(DevelopmentClients.google), secret \(DevelopmentClients.googleSecret)
                         \(DevelopmentClients.web), secret \(DevelopmentClients.webSecret)
                         \(DevelopmentClients.native), without a secret
                         \(DevelopmentClients.phone), for a native sign-in

            """
    }

    private var login: String {
        guard googlePort != nil else { return "" }
        let issuer = "http://127.0.0.1:\(servicePort)"
        return """
              \(program) login --issuer \(issuer) --client-id \(DevelopmentClients.native)
                  signs in as a desktop program does

            """
    }

    /// Options of `siwa tour` that differ from its defaults.
    private var options: String {
        var options = ""
        if servicePort != Tour.servicePort { options += " --port \(servicePort)" }
        if applePort != Tour.applePort { options += " --emulator-port \(applePort)" }
        if receiverPort != Tour.receiverPort { options += " --receiver-port \(receiverPort)" }
        if clientID != Tour.clientID { options += " --client-id \(clientID)" }
        return options
    }
}
