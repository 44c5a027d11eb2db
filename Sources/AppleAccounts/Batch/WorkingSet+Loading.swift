extension WorkingSet {
    /// The accounts whose codes and tokens the commands have to see. To be asked once the subjects are
    /// loaded; sign-ins never need them.
    public var grantAccounts: [AccountID] {
        guard !grantPositions.isEmpty else { return [] }
        return grantPositions.sorted().compactMap { position in
            let subject = subjects[position]
            let mayHaveGrants = subject.credentials.contains { $0.refreshToken?.mayHaveGrants == true }
            return mayHaveGrants ? subject.accountID : nil
        }
    }

    /// Puts in all codes and tokens of one of `grantAccounts`.
    public mutating func load(_ held: AccountGrants, of account: AccountID) {
        grants[account] = held
    }

    /// The transfer to look for, by team and identifier. To be asked once the subjects are loaded; `nil`
    /// unless a token had an identifier and its person is not known.
    public var transferQuestion: (team: TeamID, transferSubject: AppleSubject)? {
        guard case .signIn(let signIn) = commands.first, let transferSubject = signIn.transferSubject,
            subjects[position(of: signIn.key)].accountID == nil
        else { return nil }
        return (signIn.key.team, transferSubject)
    }

    public mutating func load(_ transfer: TransferRecord) {
        self.transfer = transfer
    }

    /// The account that may move, to be looked up by its ID, and among the erased accounts. To be asked once
    /// the answer to `transferQuestion` is loaded.
    public var movingAccountID: AccountID? {
        if let transfer { return transfer.accountID }
        guard case .transfer(let command) = commands.first else { return nil }
        return command.accountID
    }

    /// Puts in the account that may move.
    ///
    /// - Parameters:
    ///   - record: `nil` when there is no such account.
    ///   - isErased: Whether there was one.
    public mutating func load(moving record: SubjectRecord?, isErased: Bool) {
        movingRecord = record
        isMovingAccountErased = isErased
    }
}

extension WorkingSet {
    /// Divides a batch into working sets that are to be applied and saved one after the other, in the same
    /// transaction. Nearly always that is one.
    public static func groups(of commands: [AccountCommand]) -> [[AccountCommand]] {
        guard commands.contains(where: \.standsAlone) else { return [commands] }
        var groups: [[AccountCommand]] = []
        var shared: [AccountCommand] = []
        for command in commands {
            guard command.standsAlone else {
                shared.append(command)
                continue
            }
            if !shared.isEmpty { groups.append(shared) }
            groups.append([command])
            shared = []
        }
        return shared.isEmpty ? groups : groups + [shared]
    }
}
