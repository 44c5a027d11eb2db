/// One check of `siwa doctor`. It changes nothing.
protocol DoctorCheck: Sendable {
    func run() async -> [Finding]
}

/// A result of one check of `siwa doctor`.
struct Finding: Equatable {
    enum Verdict: String {
        case good = "ok"
        /// Works, but the operator should know about it.
        case note
        case wrong
        /// Not checked because of another error.
        case skipped
    }

    /// The name of the check. It is the same in every version, for scripts.
    let check: String
    let verdict: Verdict
    /// The result. Contains nothing secret.
    let text: String
    /// Advice for the operator.
    let advice: String?

    static func good(_ check: String, _ text: String) -> Finding {
        Finding(check: check, verdict: .good, text: text, advice: nil)
    }

    static func note(_ check: String, _ text: String, advice: String? = nil) -> Finding {
        Finding(check: check, verdict: .note, text: text, advice: advice)
    }

    static func wrong(_ check: String, _ text: String, advice: String) -> Finding {
        Finding(check: check, verdict: .wrong, text: text, advice: advice)
    }

    static func skipped(_ check: String, _ text: String) -> Finding {
        Finding(check: check, verdict: .skipped, text: text, advice: nil)
    }
}
