/// One thing that `siwa doctor` looked at, and how it stands.
struct Finding: Equatable {
    enum Verdict: String {
        case good = "ok"
        /// Works, and should be known.
        case note
        case wrong
        /// Could not be looked at, because of something else that is wrong.
        case skipped
    }

    /// What was looked at: the same word for the same check in every version, for scripts.
    let check: String
    let verdict: Verdict
    /// What is the case. Nothing secret.
    let text: String
    /// What to do about it.
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
