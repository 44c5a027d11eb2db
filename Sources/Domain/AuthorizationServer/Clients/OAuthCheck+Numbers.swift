/// Numbers within their bounds.
extension OAuthCheck {
    /// The number, or the default, also after a mistake.
    mutating func number(_ member: DraftMember<OAuthDraft>, in draft: OAuthDraft) -> Int64 {
        number(member.value, in: draft, at: "oauth.\(member.name)", of: nil)
    }

    /// The number, or the default, also after a mistake.
    mutating func number(_ member: ClientMember, of draft: ClientDraft) -> Int64 {
        number(member.value, in: draft, at: "oauth.clients.\(member.name)", of: draft.id)
    }

    /// The number of seconds. `nil` where the file has none, and after a mistake.
    mutating func seconds(_ member: ClientMember, of draft: ClientDraft) -> Int64? {
        guard case .optionalSeconds(let path, let bounds) = member.value else {
            preconditionFailure("\(member.name) has a default, or is no number of seconds")
        }
        return checked(
            draft[keyPath: path], bounds, .seconds, at: "oauth.clients.\(member.name)", of: draft.id)
    }

    private mutating func number<Draft>(
        _ value: DraftValue<Draft>, in draft: Draft, at setting: String, of owner: String?
    ) -> Int64 {
        guard case .number(let path, let bounds, let unit, let standard) = value else {
            preconditionFailure("\(setting) is no number with a default")
        }
        return checked(draft[keyPath: path], bounds, unit, at: setting, of: owner) ?? standard
    }

    private mutating func checked(
        _ number: Int64?, _ bounds: ClosedRange<Int64>, _ unit: DraftUnit, at setting: String,
        of owner: String?
    ) -> Int64? {
        guard let number, !bounds.contains(number) else { return number }
        let code: OAuthMistake.Code =
            switch unit {
            case .seconds: .lifetimeOutOfRange
            case .refreshTokens: .limitOutOfRange
            }
        let client = owner.map { "of \($0) " } ?? ""
        add(
            code, at: setting,
            "\(client)must be from \(bounds.lowerBound) to \(bounds.upperBound) \(unit.rawValue), but is \(number)"
        )
        return nil
    }
}
