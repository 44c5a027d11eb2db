extension WorkingSet {
    /// Accounts whose codes and tokens the commands need. Read it after the subjects are loaded; sign-ins
    /// never need any.
    public var appleTokenAccounts: [AccountID] {
        guard !appleTokenPositions.isEmpty else { return [] }
        return appleTokenPositions.sorted().compactMap { position in
            let subject = subjects[position]
            let mayHaveAppleTokens = subject.credentials.contains {
                $0.refreshToken?.mayHaveAppleTokens == true
            }
            return mayHaveAppleTokens ? subject.accountID : nil
        }
    }

    /// Loads all codes and tokens of an account in `appleTokenAccounts`.
    public mutating func load(_ held: HeldAppleTokens, of account: AccountID) {
        tokens[account] = held
    }

    /// Team and identifier of the transfer to look for. Read it after the subjects are loaded; `nil` unless a
    /// token had an identifier and its user is unknown.
    public var transferQuestion: (team: TeamID, transferSubject: AppleSubject)? {
        guard case .signIn(let signIn) = commands.first, let transferSubject = signIn.transferSubject,
            subjects[position(of: signIn.key)].accountID == nil
        else { return nil }
        return (signIn.key.team, transferSubject)
    }

    public mutating func load(_ transfer: TransferRecord) {
        self.transfer = transfer
    }

    /// ID of the account that may move, to be looked up among the accounts and the erased accounts. Read it
    /// after the transfer of `transferQuestion` is loaded.
    public var movingAccountID: AccountID? {
        if let transfer { return transfer.accountID }
        guard case .transfer(let command) = commands.first else { return nil }
        return command.accountID
    }

    /// Loads the account that may move.
    ///
    /// - Parameters:
    ///   - record: `nil` when the account does not exist.
    ///   - isErased: True if the account was erased.
    public mutating func load(moving record: SubjectRecord?, isErased: Bool) {
        movingRecord = record
        isMovingAccountErased = isErased
    }
}

extension WorkingSet {
    /// Divides a batch into working sets that are applied and saved one after the other, in the same
    /// transaction. Nearly always this is a single working set.
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
