import Console
import EmulatorServer
import GoogleEmulator

extension DevelopmentFakes {
    var links: [WorldLink] { (google?.state.links ?? []).map { WorldLink($0) } }

    var reports: [WorldReport] {
        (google?.state.receivedEvents ?? []).map { event in
            WorldReport(
                type: event.type, at: event.issuedAt * 1000, link: event.linkID, deliveries: event.deliveries)
        }
    }

    func carryOut(_ use: WorldLinkUse, of link: String) async throws -> String {
        guard let google else { throw DevelopmentWorldError("Google's client is not configured.") }
        do {
            let status: Int?
            let words: String
            switch use {
            case .refresh:
                (status, words) = (try await google.state.refreshLink(link), "refreshed link \(link)")
            case .call: (status, words) = (try await google.state.callWithLink(link), "used link \(link)")
            case .unlink: (status, words) = (try await google.state.unlink(link), "unlinked link \(link)")
            }
            let answer = status.map { "siwa answered \($0)" } ?? "no answer of siwa arrived"
            return "Google \(words): \(answer)."
        } catch {
            throw DevelopmentWorldError(error.sentence)
        }
    }
}

extension WorldLink {
    fileprivate init(_ link: AccountLink) {
        let state: String
        if case .failed(let error) = link.status {
            state = "\(link.status.word): \(error)"
        } else {
            state = link.status.word
        }
        self.init(
            id: link.id, mode: link.mode.rawValue, state: state, isLinked: link.status == .linked,
            scope: link.scope, account: link.account, expiresAt: link.expiresAt.map { $0 * 1000 },
            hasRefreshToken: link.refreshToken != nil, isActive: link.isActive)
    }
}
