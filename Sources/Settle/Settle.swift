@_exported public import RevisionTree
@_exported public import SettleDatabase
