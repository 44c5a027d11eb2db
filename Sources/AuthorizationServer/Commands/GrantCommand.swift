/// A change of grants that one transaction carries out. Extensions of `GrantWorkingSet` have the rule of each.
public enum GrantCommand: Sendable, Hashable {
    case authorize(AuthorizeCommand)
    case redeem(RedeemCommand)
    case refresh(RefreshCommand)
    case revoke(RevokeCommand)
    case end(EndGrantCommand)
    case assertion(AssertionCommand)
    case googleEvent(GoogleEventCommand)
}
