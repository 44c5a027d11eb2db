public import AppleAccounts
import Synchronization

extension ReferenceStore {
    public func erasure(_ id: ErasureID) async throws -> ErasureRecord? {
        state.withLock { $0.erasures.first { $0.id == id } }
    }

    public func erasure(of id: AccountID) async throws -> ErasureRecord? {
        state.withLock { $0.erasures.first { $0.accountID == id } }
    }

    public func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken] {
        state.withLock { state in
            let due = state.erasures.filter { id == nil || $0.id == id }.flatMap(\.tokens)
                .filter { !$0.isDone && $0.nextAttemptAt <= moment }
                .sorted { ($0.nextAttemptAt, $0.id) < ($1.nextAttemptAt, $1.id) }
            return due.prefix(limit).compactMap { token in
                guard let (position, index) = state.place(of: token.id) else { return nil }
                state.erasures[position].tokens[index].attempts += 1
                state.erasures[position].tokens[index].nextAttemptAt = leaseUntil
                state.erasures[position].tokens[index].isClaimed = true
                let erasure = state.erasures[position]
                return ClaimedErasureToken(
                    erasureID: erasure.id, accountID: erasure.accountID, team: erasure.team,
                    deadline: erasure.deadline, token: erasure.tokens[index], isInterrupted: token.isClaimed)
            }
        }
    }

    public func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws {
        if let cause = token.cause, !(1...ErasureToken.longestCause).contains(cause.unicodeScalars.count) {
            throw StorageError(.valueRefused, detail: "a cause out of bounds")
        }
        state.withLock { state in
            guard let (position, index) = state.place(of: token.id), state.erasures[position].id == id,
                !state.erasures[position].tokens[index].isDone
            else { return }
            var saved = token
            saved.isClaimed = false
            if saved.isDone { saved.sealed = nil }
            state.erasures[position].tokens[index] = saved
            if state.erasures[position].tokens.allSatisfy(\.isDone) {
                state.erasures[position].finishedAt = moment
            }
        }
    }

    public func earliestErasureDeadline() async throws -> Moment? {
        state.withLock { state in
            state.erasures.filter { $0.tokens.contains { !$0.isDone } }.map(\.deadline).min()
        }
    }

    public func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool {
        state.withLock { state in
            guard let (position, index) = state.place(of: codeID) else { return false }
            let code = state.erasures[position].tokens[index]
            guard code.step == .exchange else { return false }
            state.erasures[position].tokens[index] = ErasureToken(
                id: tokenID, clientID: code.clientID, primaryClientID: code.primaryClientID,
                kind: .refreshToken, step: .revoke, attempts: code.attempts, nextAttemptAt: moment,
                sealed: sealed)
            state.erasures[position].tokens.sort { $0.id < $1.id }
            return true
        }
    }
}

extension ReferenceState {
    fileprivate func place(of token: UniqueID) -> (erasure: Int, token: Int)? {
        for (position, erasure) in erasures.enumerated() {
            if let index = erasure.tokens.firstIndex(where: { $0.id == token }) { return (position, index) }
        }
        return nil
    }
}
