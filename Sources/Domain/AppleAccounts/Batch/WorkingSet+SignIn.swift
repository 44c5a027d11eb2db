extension WorkingSet {
    /// Checks everything before it changes anything, so that a refused sign-in leaves no trace but a consumed
    /// challenge.
    mutating func apply(
        _ command: SignInCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> SignInOutcome {
        let position = position(of: command.key)
        let moved = try checkedTransfer(for: command, to: position)
        // After every other check: the counter of a refused sign-in does not rise.
        let proofRefusal = try usedProof(of: command)
        if let moved {
            takeTransfer(
                moved, to: command.key, at: command.authorizedAt, recordedAt: command.receivedAt,
                by: AuditOrigin(.user), using: &generator)
        }
        if let nonce = command.nonce { use(nonce) }
        endDisabling(at: position, ifOverAt: command.receivedAt, using: &generator)

        let before = events.count
        let change = subjects[position].take(command, using: &generator)
        if change.isNewAccount {
            append(.accountCreated, of: command, using: &generator)
        } else {
            if change.isEmailChanged { append(.emailChanged, of: command, using: &generator) }
            if change.isProfileChanged { append(.profileChanged, of: command, using: &generator) }
        }
        if change.isNewlyAuthorized {
            append(
                .credentialAuthorized, of: command, clientID: command.clientID, reason: .signedIn,
                using: &generator)
        }
        if events.count == before {
            noteSignIn(command, of: change.accountID, after: change.lastSignInAt)
        }
        if let offer = command.authorizationCode {
            insert(
                NewAuthorizationCode(
                    offer, accountID: change.accountID, primaryClientID: command.clientID,
                    authorizedAt: command.authorizedAt, nextAttemptAt: command.receivedAt))
        }
        return SignInOutcome(
            account: subjects[position].account(change.accountID, createdAt: change.createdAt),
            credential: subjects[position].credential(for: command.clientID),
            isNewAccount: change.isNewAccount, proofRefusal: proofRefusal)
    }

    /// Checks the sign-in. Returns the record that it moves to the user, if there is any.
    private mutating func checkedTransfer(
        for command: SignInCommand, to position: Int
    ) throws(AccountRefusal) -> SubjectRecord? {
        do throws(AccountRefusal) {
            guard let moved = try transferredRecord(for: command) else {
                try check(command, against: subjects[position])
                return nil
            }
            try check(command, against: moved)
            return moved
        } catch {
            if let proof = command.proof { try? consume(proof.challenge) }
            throw error
        }
    }

    /// Returns the reason why the proof does not hold, unless a proof is demanded.
    private mutating func usedProof(
        of command: SignInCommand
    ) throws(AccountRefusal) -> AccountRefusal.Code? {
        guard let proof = command.proof else { return nil }
        do throws(AccountRefusal) {
            try use(proof, at: command.receivedAt)
            return nil
        } catch {
            if command.demandsProof { throw error }
            return error.code
        }
    }

    private func check(_ command: SignInCommand, against subject: SubjectRecord) throws(AccountRefusal) {
        if let nonce = command.nonce { try check(nonce, at: command.receivedAt) }
        guard subject.record(for: command.clientID).admits(authorizationAt: command.authorizedAt) else {
            throw AccountRefusal(.credentialRevoked)
        }
        guard subject.accountID != nil || command.createsAccount else {
            throw AccountRefusal(.accountNotFound)
        }
        // Last, so that a token that signs nobody in says nothing about the account.
        guard !subject.isDisabled(at: command.receivedAt) else { throw AccountRefusal(.accountDisabled) }
    }

    private mutating func append(
        _ kind: AccountEvent.Kind, of command: SignInCommand, clientID: ClientID? = nil,
        reason: CredentialReason? = nil, using generator: inout some RandomNumberGenerator
    ) {
        events.append(
            AccountEvent(
                id: EventID(UniqueID(at: command.receivedAt, using: &generator)), kind: kind,
                key: command.key,
                accountID: subjects[position(of: command.key)].accountID, clientID: clientID, reason: reason,
                source: .signIn, moment: command.authorizedAt, recordedAt: command.receivedAt))
    }
}
