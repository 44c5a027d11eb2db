import AppleAccounts
import AppleIdentity
import KeySets

/// Runs the service's own verifiers on one token and keeps what each step found.
struct TokenInspection: Sendable {
    let kind: TokenKind
    let policy: VerificationPolicy
    let nonce: String?
    let moment: Moment

    func inspect(_ compact: String, keys source: InspectionKeys) async -> InspectionReport {
        let token: UnverifiedToken
        do throws(AppleTokenError) {
            token = try UnverifiedToken(compact)
        } catch {
            return report(.refused(error))
        }
        do {
            let key = try await source.load().key(of: token)
            let now = NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000)
            switch kind {
            case .identityToken:
                let identity = try IdentityTokenVerifier(policy: policy).verify(
                    token, with: key, expecting: IdentityTokenExpectations(nonce: nonce), at: now)
                return report(.accepted(.identity(identity)), keyID: token.keyID)
            case .notification:
                let notification = try NotificationVerifier(policy: policy).verify(token, with: key, at: now)
                return report(.accepted(.notification(notification)), keyID: token.keyID)
            }
        } catch let error as AppleTokenError {
            return report(.refused(error), keyID: token.keyID)
        } catch {
            return report(.undecided("\(error)"), keyID: token.keyID)
        }
    }

    private func report(_ verdict: InspectionReport.Verdict, keyID: String? = nil) -> InspectionReport {
        let steps = VerificationStep.steps(for: kind)
        let last: VerificationStep? =
            switch verdict {
            case .accepted: nil
            case .refused(let error): error.step
            case .undecided: .key
            }
        let end = last.flatMap { steps.firstIndex(of: $0) } ?? steps.count
        let findings = steps.enumerated().map { index, step in
            let finding: InspectionReport.Finding
            if index > end {
                finding = .notReached
            } else if index == end {
                finding = if case .undecided = verdict { .unknown } else { .failed }
            } else {
                finding = wasAsked(step) ? .passed : .notAsked
            }
            return (step, finding)
        }
        return InspectionReport(
            kind: kind, keyID: keyID, moment: moment, verdict: verdict, findings: findings)
    }

    /// Some checks are made only when the caller brings what to compare with.
    private func wasAsked(_ step: VerificationStep) -> Bool {
        switch step {
        case .nonce: nonce != nil
        case .codeHash, .accessTokenHash: false
        default: true
        }
    }
}
