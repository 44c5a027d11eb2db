import Encodings
import StrictJSON

extension EventStreamError {
    /// The error of a response of Google's API (`google.rpc.Status`).
    ///
    /// - Parameter call: The call, for the text.
    init(status: Int, body: [UInt8], call: String, account: String) {
        let error = (try? JSONValue(parsing: body))?["error"]
        let message = error?["message"]?.string.map { ": \($0.forTerminal(limit: 300))" } ?? ""
        let reasons = error?["details"]?.array?.compactMap { $0["reason"]?.string } ?? []
        let text = "Google answers \(call) with \(status)\(message)"
        switch status {
        case 400:
            self.init(
                .requestRefused,
                """
                \(text)
                The URL must be https, on an authorized domain of the project: add the domain in Google's console \
                (Google Auth Platform, Branding, Authorized domains).
                """)
        case 401:
            self.init(
                .notAuthenticated,
                """
                \(text)
                Check that the key of \(account) still exists (IAM & Admin, Service Accounts, Keys), that the file \
                belongs to it, and that the clock of this machine is right.
                """)
        case 403 where reasons.contains("SERVICE_DISABLED"):
            self.init(
                .apiDisabled,
                """
                \(text)
                Enable the RISC API in the project (APIs & Services, Library), and try again some minutes later.
                """)
        case 403:
            self.init(
                .forbidden,
                """
                \(text)
                Give \(account) the role RISC Configuration Admin (roles/riscconfigs.admin) in the project of \
                google_client_ids, and enable the RISC API there.
                """)
        case 404:
            self.init(
                .streamMissing,
                "\(text)\nNothing is registered for this project: run siwa google risc register.")
        case 429:
            self.init(.throttled, "\(text)\nGoogle has received too many calls: try again in some minutes.")
        default:
            self.init(.failed, "\(text)\nNothing is known about the result: try again.")
        }
    }
}
