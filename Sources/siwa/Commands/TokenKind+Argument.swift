public import AppleIdentity
public import ArgumentParser

extension TokenKind: ExpressibleByArgument {}
