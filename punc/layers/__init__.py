"""What neural models share: recurrent, convolutional and attention layers, the CRF, inputs and costs.

What other packages and programs use:

    costs            squared_error: costs other than cross-entropy
    crf              LinearChain, viterbi_steps: the linear-chain CRF
    dropout          dropout: dropout, of a sample or of a whole batch
    filters          Filters: convolution with filters of several widths
    fully_connected  FullyConnected: fully connected layers of sigmoids
    gated_residual   GatedResidual: gated dilated convolutions
    highway          Highway: the highway layer
    local_attention  LocalAttention: attention to the steps nearby
    lstm             PeepholeLSTM: the LSTM with peepholes
    lstm_stack       BidirectionalStack, LSTMStack, with_ends: layers of LSTM, in one or both directions
    neighbours       concatenate_neighbours, max_over_neighbours, outside: vectors of neighbouring steps
    orthogonal       make_orthogonal: initial weights of LSTM layers
    overlapping      in_windows: long texts in overlapping windows
    pause_input      PauseInput: the pause as an input
    pause_vectors    PauseVectors, pause_class: the pause as a learned vector
    pretrained       PretrainedEncoder: encoders of the package transformers, from a local directory
    spelling         Spelling: a word's vector from its characters
    window           WindowInput, WordVectors: the word vectors of a window
"""
