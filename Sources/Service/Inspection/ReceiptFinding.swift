import AppAttestation
import AppleAccounts
import StrictJSON

/// The result of the verification of the receipt in an accepted attestation.
enum ReceiptFinding {
    case verified(VerifiedReceipt)
    case refused(ReceiptError)

    var error: ReceiptError? {
        switch self {
        case .verified: nil
        case .refused(let error): error
        }
    }

    /// The content of a verified receipt; `nil` for a refused receipt.
    var content: JSONObject? {
        switch self {
        case .verified(let receipt):
            JSONObject([
                ("kind", .string(receipt.kind.rawValue)),
                ("environment", .string(receipt.environment.rawValue)),
                ("created_at", .string(Moment(milliseconds: receipt.createdAt).rfc3339)),
                ("expires_at", .string(Moment(milliseconds: receipt.expiresAt).rfc3339)),
            ])
        case .refused: nil
        }
    }

    /// The result of each step. The verifier stops at the first step that fails.
    ///
    /// - Parameter finding: `nil` when the attestation was refused: then the receipt was not verified.
    static func findings(of finding: ReceiptFinding?) -> [(step: ReceiptStep, finding: CheckReport.Finding)] {
        let steps = ReceiptStep.allCases
        guard let finding else { return steps.map { ($0, .notReached) } }
        let failed = finding.error.flatMap { steps.firstIndex(of: $0.step) } ?? steps.count
        return steps.enumerated().map { index, step in
            (step, index < failed ? .passed : index == failed ? .failed : .notReached)
        }
    }
}
