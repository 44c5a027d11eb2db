public import AppleAccounts
import Synchronization

extension ReferenceStore: AppleTokenStore {
    public func claimCodes(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedCode] {
        state.withLock { state in
            let due = state.codes.filter { $0.nextAttemptAt <= moment }
                .sorted { ($0.nextAttemptAt, $0.id) < ($1.nextAttemptAt, $1.id) }
            return due.prefix(limit).compactMap { code in
                guard let key = state.key(of: code.accountID),
                    let index = state.codes.firstIndex(where: { $0.id == code.id })
                else { return nil }
                state.codes[index].attempts += 1
                state.codes[index].nextAttemptAt = leaseUntil
                state.codes[index].isClaimed = true
                return ClaimedCode(record: state.codes[index], key: key, isInterrupted: code.isClaimed)
            }
        }
    }

    public func releaseCode(_ id: UniqueID, until moment: Moment) async throws {
        state.withLock { state in
            guard let index = state.codes.firstIndex(where: { $0.id == id }) else { return }
            state.codes[index].nextAttemptAt = moment
            state.codes[index].isClaimed = false
        }
    }

    public func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck] {
        state.withLock { state in
            let due = state.tokens.filter { $0.nextCheckAt <= moment && !resting.contains($0.clientID) }
                .sorted { ($0.nextCheckAt, $0.accountID.uniqueID) < ($1.nextCheckAt, $1.accountID.uniqueID) }
            return due.prefix(limit).compactMap { token in
                guard let key = state.key(of: token.accountID),
                    let index = state.tokens.firstIndex(where: { $0.id == token.id })
                else { return nil }
                let jitter = Int64.random(in: 0..<max(jitterMilliseconds, 1), using: &state.generator)
                state.tokens[index].nextCheckAt = nextAfter.advanced(byMilliseconds: jitter)
                state.tokens[index].uncheckedSince = nil
                return ClaimedCheck(token, key: key)
            }
        }
    }

    public func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws {
        state.withLock { state in
            guard let index = state.tokens.firstIndex(where: { $0.id == check.tokenID }) else { return }
            if let moment { state.tokens[index].nextCheckAt = moment }
            state.tokens[index].uncheckedSince = check.dueSince
        }
    }

    public func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment? {
        state.withLock { state in
            state.tokens.filter { !resting.contains($0.clientID) }.map(\.nextCheckAt).min()
        }
    }

    public func nextDue() async throws -> AppleTokensDue {
        state.withLock { state in
            AppleTokensDue(
                code: state.codes.map(\.nextAttemptAt).min(), check: state.tokens.map(\.nextCheckAt).min(),
                erasure: state.erasures.flatMap(\.tokens).filter { !$0.isDone }.map(\.nextAttemptAt).min())
        }
    }

    public func backlog(at moment: Moment) async throws -> AppleTokensBacklog {
        state.withLock { state in
            func queue(_ dueSince: [Moment]) -> AppleTokensBacklog.Queue {
                AppleTokensBacklog.Queue(
                    count: min(Int64(dueSince.count), AppleTokensBacklog.most), since: dueSince.min())
            }
            let checks = state.tokens.compactMap { token in
                token.uncheckedSince ?? (token.nextCheckAt <= moment ? token.nextCheckAt : nil)
            }
            let erasures = state.erasures.flatMap { erasure in
                erasure.tokens.filter { !$0.isDone }.map { _ in erasure.requestedAt }
            }
            return AppleTokensBacklog(
                codes: queue(state.codes.map(\.receivedAt)), checks: queue(checks), erasures: queue(erasures))
        }
    }

    public func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        state.withLock { state in
            let all = state.sealedRows.sorted { $0.cursor.isBefore($1.cursor) }
            return Array(all.filter { row in cursor.map { $0.isBefore(row.cursor) } ?? true }.prefix(limit))
        }
    }

    public func replaceSealed(_ changes: [SealedChange]) async throws -> Int {
        state.withLock { state in changes.count(where: { state.replace($0) }) }
    }

    public func sealedCount() async throws -> Int {
        state.withLock { $0.sealedRows.count }
    }
}

extension ReferenceState {
    fileprivate mutating func replace(_ change: SealedChange) -> Bool {
        let (row, id) = (change.row, change.row.cursor.id)
        switch row.cursor.place {
        case .code:
            guard let index = codes.firstIndex(where: { $0.id == id && $0.sealed == row.sealed })
            else { return false }
            codes[index] = codes[index].sealed(as: change.sealed)
        case .token:
            let index = tokens.firstIndex {
                $0.accountID.uniqueID == id && $0.clientID == row.clientID && $0.sealed == row.sealed
            }
            guard let index else { return false }
            tokens[index].sealed = change.sealed
        case .erasure:
            for (position, erasure) in erasures.enumerated() {
                for (index, token) in erasure.tokens.enumerated()
                where token.id == id && token.sealed == row.sealed {
                    erasures[position].tokens[index].sealed = change.sealed
                    return true
                }
            }
            return false
        }
        return true
    }

    fileprivate var sealedRows: [SealedRow] {
        codes.map { code in
            SealedRow(
                cursor: SealedCursor(place: .code, id: code.id), purpose: .authorizationCode,
                accountID: code.accountID, clientID: code.clientID, sealed: code.sealed)
        }
            + tokens.map { token in
                SealedRow(
                    cursor: SealedCursor(
                        place: .token, id: token.accountID.uniqueID, clientID: token.clientID),
                    purpose: .refreshToken, accountID: token.accountID, clientID: token.clientID,
                    sealed: token.sealed)
            }
            + erasures.flatMap { erasure in
                erasure.tokens.compactMap { token in
                    token.sealed.map { sealed in
                        SealedRow(
                            cursor: SealedCursor(place: .erasure, id: token.id), purpose: token.kind,
                            accountID: erasure.accountID, clientID: token.clientID, sealed: sealed)
                    }
                }
            }
    }
}

extension SealedCursor {
    fileprivate func isBefore(_ other: SealedCursor) -> Bool {
        (place.rawValue, id, clientID?.rawValue ?? "") < (
            other.place.rawValue, other.id, other.clientID?.rawValue ?? ""
        )
    }
}

extension AuthorizationCodeRecord {
    fileprivate func sealed(as sealed: SealedSecret) -> AuthorizationCodeRecord {
        AuthorizationCodeRecord(
            id: id, accountID: accountID, clientID: clientID, primaryClientID: primaryClientID,
            redirectURI: redirectURI, sealed: sealed, authorizedAt: authorizedAt,
            receivedAt: receivedAt, expiresAt: expiresAt, attempts: attempts, nextAttemptAt: nextAttemptAt,
            isClaimed: isClaimed)
    }
}
