public import AppleAccounts

extension DisableCommand {
    public static func sample(
        _ account: Account, reason: Disabling.Reason = .abuse, until: Moment = .last, scope: AppScope = .all,
        at moment: Moment = 2_050_000
    ) -> DisableCommand {
        DisableCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            reason: reason, until: until, scope: scope, moment: moment)
    }
}

extension EnableCommand {
    public static func sample(
        _ account: Account, onlyIfOver: Bool = false, scope: AppScope = .all, at moment: Moment = 2_060_000
    ) -> EnableCommand {
        EnableCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            onlyIfOver: onlyIfOver, scope: scope, moment: moment)
    }
}

extension SignOutCommand {
    public static func sample(
        _ account: Account, keptClients: Set<OAuthClientID> = [], scope: AppScope = .all,
        at moment: Moment = 2_050_000
    ) -> SignOutCommand {
        SignOutCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            keptClients: keptClients, scope: scope, moment: moment)
    }
}

extension AccountStore {
    @discardableResult
    public func change(_ command: some AccountChangeCommand) async throws -> Account {
        guard case .changed(let account) = try await carryOut(command.untyped) else {
            throw ConformanceFailure(description: "a change of an account had another outcome")
        }
        return account
    }
}
